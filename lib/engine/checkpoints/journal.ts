import { Unavailable } from '../../core/errors.ts'
import type { LeasedExecution, LostStep, Outcome, Progress } from '../../core/execution.ts'
import type { ToolResult } from '../../core/model.ts'
import { addUsage, NO_USAGE, totalUsage, type Usage } from '../../core/model-usage.ts'
import {
  attemptOf,
  type CallResult,
  type RecordedStep,
  type Step,
  type StepStore,
  stillLost,
} from '../../core/step.ts'
import type { LeaseHeartbeat } from './lease-heartbeat.ts'
import { AttemptStopped, leaseLost } from './stop-reason.ts'

/** Characters of an execution's log. */
const MAX_LOG_CHARACTERS = 16_000

type Params = {
  steps: StepStore
  execution: LeasedExecution
  heartbeat: Pick<LeaseHeartbeat, 'confirm' | 'isHeld' | 'renew' | 'report' | 'watchedUntil'>
  /** Aborts when no further step may begin. */
  drain?: AbortSignal | undefined
  onLog?: ((text: string) => void) | undefined
  onStep?: ((execution: LeasedExecution, step: Step) => void) | undefined
}

/** A step without its number, which is its position in the journal. */
export type NewStep = Step extends infer S ? (S extends Step ? Omit<S, 'number'> : never) : never

/**
 * The checkpoints of one run: those of earlier workers, and those that this one adds. The first step of a worker renews
 * the lease; later ones cost one write each, because nobody else can have the lease before it expires. Heartbeats
 * record the progress of steps that are stored, and a cancelled run's journal refuses further steps.
 */
export class Journal {
  readonly recorded: RecordedStep[]
  model: string | null = null
  /** Whether this worker has added a step, or a result of a tool call. */
  hasGrown = false
  /** What a code agent printed in this attempt. */
  logs = ''
  /** Steps in the journal, and what they have used. `replayedUsage`: with that of agents, in the original. */
  private totals: Pick<Progress, 'steps' | 'usage' | 'replayedUsage'> = { steps: 0, usage: NO_USAGE }
  /** Steps that earlier attempts could not store. */
  private readonly lostBefore: LostStep[]
  /** What agents have used that were called as tools. */
  private childUsage: Usage | null = null
  /** What responses of all attempts have used that could not be used. */
  private lostUsage: Usage | null
  /** The step that this worker is storing, or could not store. */
  lostStep: LostStep | null = null
  private readonly params: Params
  /** Serializes writes in the order of the step numbers. */
  private queue: Promise<unknown> = Promise.resolve()
  private isClosed = false
  private hasRenewed = false

  private constructor(params: Params, recorded: RecordedStep[]) {
    this.params = params
    this.recorded = recorded
    for (const { step, results } of recorded) {
      this.totals = this.totalsWith(step)
      for (const { result } of results.values()) this.addResult(result)
    }
    const { lostSteps, lostUsage } = params.execution
    this.lostUsage = lostUsage
    this.lostBefore = stillLost(lostSteps, recorded)
  }

  /** Reads the steps of earlier attempts; the first attempt has none to read. */
  static async open(params: Params): Promise<Journal> {
    const { execution, steps, heartbeat } = params
    const isResumed = execution.attempts > 1
    const journal = new Journal(params, isResumed ? await steps.read({ executionId: execution.id }) : [])
    const last = journal.recorded.at(-1)
    // The worker of the last checkpoint died before a heartbeat recorded it: the record still counts its attempt.
    if (last && execution.attemptsSinceProgress > execution.attempts - lastAttemptOf(last)) {
      const progress = { ...journal.progress, model: execution.model }
      if (!(await heartbeat.renew({ progress, isEarlier: true }))) throw leaseLost()
    }
    return journal
  }

  /** Until when readers in other processes follow the run, as far as this worker knows. */
  get watchedUntil(): number {
    return this.params.heartbeat.watchedUntil
  }

  get progress(): Progress {
    return { ...this.totals, model: this.model, ...(this.childUsage && { childUsage: this.childUsage }) }
  }

  /** Steps of the run that were computed, and are not known to be stored. */
  get lostSteps(): LostStep[] {
    return this.lostStep ? [...this.lostBefore, this.lostStep] : this.lostBefore
  }

  /** What is lost, for the record: nothing, for most runs. */
  get losses(): { lostSteps?: LostStep[]; lostUsage?: Usage } {
    const { lostSteps, lostUsage } = this
    const hasLostSteps = lostSteps.length + this.params.execution.lostSteps.length > 0
    return { ...(hasLostSteps && { lostSteps }), ...(lostUsage && { lostUsage }) }
  }

  /** What the run has used so far, also for what is lost, without the agents that it called. */
  get usage(): Usage {
    return totalUsage({ ...this.totals, lostSteps: this.lostSteps, lostUsage: this.lostUsage })
  }

  /**
   * Counts a response that could not be used. It is in the record before the next request, so that no worker forgets
   * more than one.
   * @throws AttemptStopped `LeaseLost`
   */
  async addLostResponse(usage: Usage): Promise<void> {
    this.assertMayWrite()
    this.lostUsage = this.lostUsage ? addUsage(this.lostUsage, usage) : usage
    const { lostUsage } = this
    if (!(await this.params.heartbeat.renew({ lostUsage }).catch(ifUnavailable))) throw leaseLost()
  }

  /** Adds what the journal knows of the run, however it ended. */
  complete(outcome: Outcome): Outcome {
    const { model, ...counts } = this.progress
    // The agent, or the cut, can split a surrogate pair, which DynamoDB refuses.
    const logs = this.logs.toWellFormed()
    return {
      ...(outcome.status === 'ERROR' && { ...counts, ...(model !== null && { model }) }),
      ...outcome,
      ...(logs && { logs }),
      ...this.losses,
    }
  }

  /** To be called before each step. @throws AttemptStopped `WorkerShuttingDown` or `LeaseLost` */
  assertMayBegin(): void {
    if (this.params.drain?.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
    this.assertMayWrite()
  }

  /** Records the examples of the run before its first step. @throws AttemptStopped `LeaseLost` */
  async recordExamples(ids: string[]): Promise<void> {
    this.assertMayWrite()
    if (!(await this.params.heartbeat.renew({ learnedFrom: ids }))) throw leaseLost()
  }

  /** Records the secret of callbacks. The first step then renews no lease. @throws AttemptStopped `LeaseLost` */
  async recordCallbackSecret(callbackSecret: string): Promise<void> {
    this.assertMayWrite()
    if (!(await this.params.heartbeat.renew({ callbackSecret }))) throw leaseLost()
    this.hasRenewed = true
  }

  /** @throws AttemptStopped `LeaseLost` */
  append(step: NewStep): Promise<RecordedStep> {
    const appending = this.queue.then(() => this.write(step))
    this.queue = appending.catch(() => this.close())
    return appending
  }

  /** Adds to the execution's log, of which the end is kept. */
  log(text: string): void {
    if (this.isClosed || text === '') return
    this.logs = (this.logs + text).slice(-MAX_LOG_CHARACTERS)
    this.params.onLog?.(text)
  }

  /** Rejects all further writes: an abandoned run may still be executing in the background. */
  close(): void {
    this.isClosed = true
  }

  /** The first result stored for a call is kept, whichever worker stored it. @throws AttemptStopped `LeaseLost` */
  async appendResult({ step, results }: RecordedStep, result: CallResult): Promise<void> {
    this.assertMayWrite()
    const { steps, execution, heartbeat } = this.params
    if (!(await heartbeat.confirm())) throw leaseLost()
    this.assertMayWrite()
    const stored = await steps.appendResult({
      executionId: execution.id,
      number: step.number,
      result: { ...result, ...this.attempt },
    })
    results.set(result.callId, stored)
    this.addResult(stored.result)
    this.hasGrown = true
    heartbeat.report(this.progress)
  }

  /** The same for an attempt at a step of a code agent. One that is not stored is lost as a step is. */
  appendAttempt(recorded: RecordedStep, result: CallResult): Promise<void> {
    const appending = this.queue.then(async () => {
      this.lostStep = { number: this.recorded.length + 1, attempt: this.params.execution.attempts }
      await this.appendResult(recorded, result)
      this.lostStep = null
    })
    this.queue = appending.catch(() => this.close())
    return appending
  }

  private get attempt(): { attempt?: number } {
    const { attempts } = this.params.execution
    return attempts > 1 ? { attempt: attempts } : {}
  }

  private assertMayWrite(): void {
    if (this.isClosed || !this.params.heartbeat.isHeld) throw leaseLost()
  }

  private addResult({ usage, replayed }: ToolResult): void {
    if (usage) this.childUsage = this.childUsage ? addUsage(this.childUsage, usage) : usage
    this.totals = { ...this.totals, ...this.withReplayed(replayed) }
  }

  private withReplayed(replayed: { usage?: Usage } | undefined): Pick<Progress, 'replayedUsage'> {
    const { replayedUsage } = this.totals
    if (!replayed?.usage) return {}
    return { replayedUsage: replayedUsage ? addUsage(replayedUsage, replayed.usage) : replayed.usage }
  }

  private totalsWith(step: Step): Journal['totals'] {
    const { steps, usage } = this.totals
    if (step.kind !== 'MODEL') return { ...this.totals, steps: steps + 1 }
    return {
      ...this.totals,
      ...this.withReplayed(step.replayed),
      steps: steps + 1,
      // Steps of a remote agent come before its first response.
      usage: usage === NO_USAGE ? step.usage : addUsage(usage, step.usage),
    }
  }

  private async write(newStep: NewStep): Promise<RecordedStep> {
    const { steps, execution, heartbeat, onStep } = this.params
    const number = this.recorded.length + 1
    const step = { ...newStep, number, ...this.attempt } as Step
    const usage = step.kind === 'MODEL' && { usage: step.usage }
    this.lostStep = { number, attempt: execution.attempts, ...usage }
    this.assertMayWrite()
    // A wait is followed by the write that gives up the lease.
    const mustRenew = !this.hasRenewed && step.kind !== 'WAIT'
    if (mustRenew && !(await heartbeat.renew().catch(ifUnavailable))) throw leaseLost()
    const totals = this.totalsWith(step)
    const progress = { ...this.progress, ...totals }
    const { id: executionId, lease } = execution
    if (!(await steps.append({ executionId, owner: lease.owner, step, progress }))) throw leaseLost()
    const recorded: RecordedStep = { step, results: new Map() }
    this.recorded.push(recorded)
    this.totals = totals
    this.lostStep = null
    this.hasGrown = true
    this.hasRenewed ||= mustRenew
    heartbeat.report(progress)
    onStep?.(execution, step)
    return recorded
  }
}

const lastAttemptOf = ({ step, results }: RecordedStep): number =>
  Math.max(...[step, ...results.values()].map(attemptOf))

/** The lease is held until it expires, also if it cannot be renewed. The step must not be lost for that. */
function ifUnavailable(error: unknown): true {
  if (error instanceof Unavailable) return true
  throw error
}
