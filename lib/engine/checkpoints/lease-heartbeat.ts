import type { LeasedExecution } from '../../core/execution.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import type { ExecutionStore, Progress, System } from '../../core/ports.ts'

type Params = {
  executions: Pick<ExecutionStore, 'renew'>
  system: System
  times: LeaseTimes
  execution: Pick<LeasedExecution, 'id' | 'lease'>
  /** Called with each heartbeat, to extend what else must not expire. Its errors are ignored. */
  onHeartbeat?: (() => Promise<void>) | undefined
}

/** Share of the heartbeat interval for which a renewal confirms the lease: half a second of the default 10 s. */
const CONFIRMED_SHARE = 1 / 20

/** Renews an execution's lease for one worker, and detects its loss. */
export class LeaseHeartbeat {
  /** Aborts when another worker has ended or claimed the execution, or when the lease has expired. */
  readonly lost: AbortSignal
  private readonly loss = new AbortController()
  private readonly params: Params
  private readonly interval: NodeJS.Timeout
  private expiry: NodeJS.Timeout | undefined
  private renewedAt: number

  constructor(params: Params) {
    this.params = params
    this.lost = this.loss.signal
    this.renewedAt = params.system.now()
    this.interval = setInterval(() => this.beat(), params.times.heartbeatMs)
    this.expireAt(params.execution.lease.expiresAt)
  }

  /** Extends the lease; false once it is lost. @throws Unavailable; the lease is then unchanged */
  async renew(progress?: Progress, learnedFrom?: string[]): Promise<boolean> {
    if (this.lost.aborted) return false
    const { executions, system, times, execution } = this.params
    const now = system.now()
    const expiresAt = now + times.leaseMs
    const isRenewed = await executions.renew({
      id: execution.id,
      lease: { owner: execution.lease.owner, expiresAt },
      ...(progress && { progress }),
      ...(learnedFrom && { learnedFrom }),
    })
    if (isRenewed) this.extend(now, expiresAt)
    else this.loss.abort()
    return isRenewed && !this.lost.aborted
  }

  /**
   * Whether the lease is still held: renews it unless that was done a moment ago, so that a fast tool call costs no
   * request more. @throws Unavailable
   */
  async confirm(): Promise<boolean> {
    const { system, times } = this.params
    const isConfirmed = system.now() - this.renewedAt < times.heartbeatMs * CONFIRMED_SHARE
    return isConfirmed ? !this.lost.aborted : this.renew()
  }

  stop(): void {
    clearInterval(this.interval)
    clearTimeout(this.expiry)
  }

  private async beat(): Promise<void> {
    const { system, times, onHeartbeat } = this.params
    const isFresh = system.now() - this.renewedAt < times.heartbeatMs / 2
    const isRenewed = isFresh || (await this.renew().catch(() => false))
    if (isRenewed) await onHeartbeat?.().catch(() => undefined)
  }

  private extend(now: number, expiresAt: number): void {
    if (this.lost.aborted) return
    this.renewedAt = now
    this.expireAt(expiresAt)
  }

  /** However long the store does not respond, the worker stops before another one can claim the execution. */
  private expireAt(expiresAt: number): void {
    clearTimeout(this.expiry)
    this.expiry = setTimeout(() => this.loss.abort(), expiresAt - this.params.system.now())
  }
}
