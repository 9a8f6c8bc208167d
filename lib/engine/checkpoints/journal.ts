import { addUsage, type LeasedExecution, NO_USAGE, type Progress } from '../../core/execution.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../../core/step.ts'
import type { LeaseHeartbeat } from './lease-heartbeat.ts'
import { AttemptStopped, leaseLost } from './stop-reason.ts'

/** Characters of an execution's log. */
const MAX_LOG_CHARACTERS = 16_000

type Params = {
  steps: StepStore
  execution: LeasedExecution
  heartbeat: Pick<LeaseHeartbeat, 'confirm' | 'isHeld' | 'renew' | 'report'>
  /** Aborts when no further step may begin. */
  drain?: AbortSignal | undefined
  onLog?: ((text: string) => void) | undefined
  onStep?: ((execution: LeasedExecution, step: Step) => void) | undefined
}

/** A step without its number, which is its position in the journal. */
export type NewStep = Step extends infer S ? (S extends Step ? Omit<S, 'number'> : never) : never

/**
 * The checkpoints of one run: those of earlier workers, and those that this one adds. The first step of a worker renews the
 * lease; later ones cost one write each, because nobody else can have the lease before it expires. Heartbeats record the
 * progress in between, and a cancelled run's journal refuses further steps.
 */
export class Journal {
  readonly recorded: RecordedStep[]
  model: string | null = null
  /** Whether this worker has added a step. */
  hasGrown = false
  /** What a code agent printed in this attempt. */
  logs = ''
  /** Model responses in the journal, and their usage. */
  private totals = { steps: 0, usage: NO_USAGE }
  private readonly params: Params
  /** Serializes writes in the order of the step numbers. */
  private queue: Promise<unknown> = Promise.resolve()
  private isClosed = false

  private constructor(params: Params, recorded: RecordedStep[]) {
    this.params = params
    this.recorded = recorded
    for (const { step } of recorded) this.count(step)
  }

  /** Reads the steps of earlier attempts; the first attempt has none to read. */
  static async open(params: Params): Promise<Journal> {
    const { execution, steps } = params
    return new Journal(params, execution.attempts > 1 ? await steps.read({ executionId: execution.id }) : [])
  }

  get progress(): Progress {
    return { ...this.totals, model: this.model }
  }

  /** To be called before each step. @throws AttemptStopped `WorkerShuttingDown` or `LeaseLost` */
  assertMayBegin(): void {
    if (this.params.drain?.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
    this.assertMayWrite()
  }

  /** Records the examples of the run before its first step. @throws AttemptStopped `LeaseLost` */
  async recordExamples(ids: string[]): Promise<void> {
    this.assertMayWrite()
    if (!(await this.params.heartbeat.renew(undefined, ids))) throw leaseLost()
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
  }

  /** The first attempt is not stored: most runs have no other. */
  private get attempt(): { attempt?: number } {
    const { attempts } = this.params.execution
    return attempts > 1 ? { attempt: attempts } : {}
  }

  private assertMayWrite(): void {
    if (this.isClosed || !this.params.heartbeat.isHeld) throw leaseLost()
  }

  private count(step: Step): void {
    if (step.kind !== 'MODEL') return
    const { steps, usage } = this.totals
    this.totals = { steps: steps + 1, usage: steps === 0 ? step.usage : addUsage(usage, step.usage) }
  }

  private async write(step: NewStep): Promise<RecordedStep> {
    const { steps, execution, heartbeat } = this.params
    this.assertMayWrite()
    const { owner } = execution.lease
    const recorded: RecordedStep = {
      step: { ...step, number: this.recorded.length + 1, ...this.attempt } as Step,
      results: new Map(),
    }
    this.recorded.push(recorded)
    this.count(recorded.step)
    const { progress } = this
    if (this.hasGrown) heartbeat.report(progress)
    else if (!(await heartbeat.renew(progress))) throw leaseLost()
    const params = { executionId: execution.id, owner, step: recorded.step, progress }
    if (!(await steps.append(params))) throw leaseLost()
    this.hasGrown = true
    this.params.onStep?.(execution, recorded.step)
    return recorded
  }
}
