import type { LeasedExecution, Progress } from '../../core/execution.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { System } from '../../core/ports/system.ts'
import type { Renewal } from '../../core/transitions.ts'

type Params = {
  executions: Pick<ExecutionStore, 'isLeasedBy' | 'renew'>
  system: System
  times: LeaseTimes
  execution: Pick<LeasedExecution, 'id' | 'lease' | 'openUntil' | 'workedMs' | 'watchedUntil'>
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
  private interval: NodeJS.Timeout | undefined
  private expiry: NodeJS.Timeout | undefined
  /** Progress since the last renewal, which the next heartbeat records. */
  private unrecorded: Progress | null = null
  /** Until when readers in other processes follow the run, as of the last renewal. Milliseconds since the epoch. */
  watchedUntil: number
  private renewedAt: number
  private expiresAt: number
  private openUntil: number
  /** For how long workers have run the execution, until `countedAt`: null before this one runs it. */
  private countedMs: number
  private countedAt: number | null = null

  constructor(params: Params) {
    this.params = params
    this.lost = this.loss.signal
    this.expiresAt = params.execution.lease.expiresAt
    this.renewedAt = this.expiresAt - params.times.leaseMs
    this.openUntil = params.execution.openUntil ?? 0
    this.watchedUntil = params.execution.watchedUntil ?? 0
    this.countedMs = params.execution.workedMs
  }

  /**
   * Starts renewing; false if the lease is lost. The write that took it may have waited on an overloaded machine: an
   * old lease is renewed first, even an expired one, unless another worker has claimed the execution.
   * @throws Unavailable
   */
  async start(): Promise<boolean> {
    const { system, times } = this.params
    this.interval = setInterval(() => this.beat(), times.heartbeatMs)
    if (system.now() - this.renewedAt >= times.heartbeatMs) return this.renew()
    this.stopAtExpiry()
    return true
  }

  /** Whether this worker may write. No other worker can claim the execution before the lease has expired. */
  get isHeld(): boolean {
    return !this.lost.aborted && this.params.system.now() < this.expiresAt
  }

  /** The run begins: from now on its time counts, and each renewal records it. */
  begin(): void {
    this.countedAt = this.params.system.now()
  }

  /** The run has ended, and the lease is still needed: no more time counts. */
  end(): void {
    this.countedMs = this.workedMs
    this.countedAt = null
  }

  /** For how long workers have run the execution. A lease that had expired, on a suspended machine, was not held. */
  get workedMs(): number {
    if (this.countedAt === null) return this.countedMs
    const ms = this.params.system.now() - this.countedAt
    return this.countedMs + Math.min(Math.max(ms, 0), this.params.times.leaseMs)
  }

  /** Has the next heartbeat record the progress. */
  report(progress: Progress): void {
    this.unrecorded = progress
  }

  /** Extends the lease; false once it is lost. @throws Unavailable; the lease is then unchanged */
  async renew(recorded: Omit<Renewal, 'lease' | 'openUntil'> = {}): Promise<boolean> {
    if (this.lost.aborted) return false
    const { executions, system, times, execution } = this.params
    const now = system.now()
    const { workedMs } = this
    const expiresAt = now + times.leaseMs
    const openUntil = expiresAt > this.openUntil ? now + times.graceMs : undefined
    const renewed = await executions.renew({
      id: execution.id,
      lease: { owner: execution.lease.owner, expiresAt },
      ...(openUntil && { openUntil }),
      workedMs,
      ...recorded,
    })
    if (!renewed) this.loss.abort()
    else if (!this.lost.aborted) {
      this.watchedUntil = renewed.watchedUntil ?? 0
      this.renewedAt = now
      this.countedMs = workedMs
      if (this.countedAt !== null) this.countedAt = now
      this.expiresAt = expiresAt
      this.openUntil = openUntil ?? this.openUntil
      if (recorded.progress === this.unrecorded) this.unrecorded = null
      this.stopAtExpiry()
    }
    return renewed !== null && !this.lost.aborted
  }

  /** Whether the lease is still held: unless it was renewed a moment ago, reads who has it. @throws Unavailable */
  async confirm(): Promise<boolean> {
    const { system, times } = this.params
    const isConfirmed = system.now() - this.renewedAt < times.heartbeatMs * CONFIRMED_SHARE
    if (!isConfirmed) await this.check()
    return this.isHeld
  }

  /** Reads who has the lease. @throws Unavailable */
  async check(): Promise<void> {
    const { executions, execution } = this.params
    if (!(await executions.isLeasedBy({ id: execution.id, owner: execution.lease.owner }))) this.loss.abort()
  }

  stop(): void {
    clearInterval(this.interval)
    clearTimeout(this.expiry)
  }

  private async beat(): Promise<void> {
    const { system, times, onHeartbeat } = this.params
    const isFresh = system.now() - this.renewedAt < times.heartbeatMs / 2
    const recorded = this.unrecorded ? { progress: this.unrecorded } : {}
    const isRenewed = isFresh || (await this.renew(recorded).catch(() => false))
    if (isRenewed) await onHeartbeat?.().catch(() => undefined)
  }

  /** However long the store does not respond, the worker stops before another one can claim the execution. */
  private stopAtExpiry(): void {
    clearTimeout(this.expiry)
    this.expiry = setTimeout(() => this.loss.abort(), this.expiresAt - this.params.system.now())
  }
}
