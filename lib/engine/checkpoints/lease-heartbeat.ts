import type { LeaseTimes } from '../../core/lease-times.ts'
import type { ExecutionStore, Progress, System } from '../../core/ports.ts'

type Params = {
  executions: ExecutionStore
  system: System
  times: LeaseTimes
  id: string
  owner: string
  /** When the lease that the worker comes with runs out. */
  expiresAt: number
  /** Called at each heartbeat: what else has to be renewed. What it throws does no harm. */
  onHeartbeat?: (() => Promise<void>) | undefined
}

/** Holds an execution's lease for one worker: renews it by heartbeat, and knows when it is lost. */
export class LeaseHeartbeat {
  /** Aborts when somebody else has ended or taken the execution, or the lease has run out. */
  readonly lost: AbortSignal
  private readonly losing = new AbortController()
  private readonly params: Params
  private readonly heart: NodeJS.Timeout
  private expiry: NodeJS.Timeout | undefined
  private renewedAt: number

  constructor(params: Params) {
    this.params = params
    this.lost = this.losing.signal
    this.renewedAt = params.system.now()
    this.heart = setInterval(() => this.beat(), params.times.heartbeatMs)
    this.expireAt(params.expiresAt)
  }

  /** Extends the lease; false once it is lost. @throws Unavailable, and then the lease is as it was */
  async renew(progress?: Progress, learnedFrom?: string[]): Promise<boolean> {
    if (this.lost.aborted) return false
    const { executions, system, times, id, owner } = this.params
    const now = system.now()
    const expiresAt = now + times.leaseMs
    const lease = { owner, expiresAt }
    const isOurs = await executions.renew({
      id,
      lease,
      ...(progress && { progress }),
      ...(learnedFrom && { learnedFrom }),
    })
    if (isOurs) this.extend(now, expiresAt)
    else this.losing.abort()
    return isOurs && !this.lost.aborted
  }

  stop(): void {
    clearInterval(this.heart)
    clearTimeout(this.expiry)
  }

  private async beat(): Promise<void> {
    const { system, times, onHeartbeat } = this.params
    const isFresh = system.now() - this.renewedAt < times.heartbeatMs / 2
    const renewed = isFresh ? true : await this.renew().catch(() => false)
    if (renewed) await onHeartbeat?.().catch(() => undefined)
  }

  private extend(now: number, expiresAt: number): void {
    if (this.lost.aborted) return
    this.renewedAt = now
    this.expireAt(expiresAt)
  }

  /** However long the store does not answer, the worker stops when another one may begin. */
  private expireAt(expiresAt: number): void {
    clearTimeout(this.expiry)
    this.expiry = setTimeout(() => this.losing.abort(), expiresAt - this.params.system.now())
  }
}
