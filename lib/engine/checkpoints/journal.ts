import { addUsage, type Execution, NO_USAGE } from '../../core/execution.ts'
import type { Progress } from '../../core/ports.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../../core/step.ts'
import { WorkerLeaves } from './deadline.ts'
import type { LeaseHeartbeat } from './lease-heartbeat.ts'

/** Thrown to a run whose lease is gone: somebody else has ended the execution, or has it now. */
export class LeaseLost extends Error {}

type Params = {
  steps: StepStore
  execution: Execution
  keeper: LeaseHeartbeat
  /** Aborts when no further step may begin. */
  leaveSoon?: AbortSignal | undefined
}

/** A step without its number, which is its place in the journal. */
export type NewStep = Step extends infer S ? (S extends Step ? Omit<S, 'number'> : never) : never

/**
 * The checkpoints of one run: those of the workers before, and those that this one adds. Each is written behind a
 * renewal of the lease, so that a worker that has lost it writes no more.
 */
export class Journal {
  readonly recorded: RecordedStep[]
  model: string | null = null
  /** Whether this worker has added a step. */
  hasGrown = false
  /** Of the model's responses in the journal. */
  private counted = { steps: 0, usage: NO_USAGE }
  private readonly params: Params
  /** Writes happen one after the other, as their numbers do. */
  private queue: Promise<unknown> = Promise.resolve()
  private isClosed = false

  private constructor(params: Params, recorded: RecordedStep[]) {
    this.params = params
    this.recorded = recorded
    for (const { step } of recorded) this.count(step)
  }

  /** An execution's first worker has nothing to read. */
  static async open(params: Params): Promise<Journal> {
    const { execution, steps } = params
    return new Journal(params, execution.attempts > 1 ? await steps.read({ executionId: execution.id }) : [])
  }

  get progress(): Progress {
    return { ...this.counted, model: this.model }
  }

  /** To be asked before a step begins. @throws WorkerLeaves, LeaseLost */
  mayBegin(): void {
    if (this.params.leaveSoon?.aborted) throw new WorkerLeaves()
    this.mayWrite()
  }

  /** Keeps on the record what the run learns from, before its first step. @throws LeaseLost */
  async learnFrom(ids: string[]): Promise<void> {
    this.mayWrite()
    if (!(await this.params.keeper.renew(undefined, ids))) throw new LeaseLost()
  }

  /** @throws LeaseLost */
  append(step: NewStep): Promise<RecordedStep> {
    const appending = this.queue.then(() => this.write(step))
    this.queue = appending.catch(() => this.close())
    return appending
  }

  /** Nothing is written from now on: what a run that was given up still does in the background comes to nothing. */
  close(): void {
    this.isClosed = true
  }

  /** The result that counts is the first that was stored, by whichever worker. @throws LeaseLost */
  async appendResult({ step, results }: RecordedStep, result: CallResult): Promise<void> {
    this.mayWrite()
    const { steps, execution } = this.params
    const kept = await steps.appendResult({ executionId: execution.id, number: step.number, result })
    results.set(result.callId, kept)
  }

  private mayWrite(): void {
    if (this.isClosed || this.params.keeper.lost.aborted) throw new LeaseLost()
  }

  private count(step: Step): void {
    if (step.kind !== 'MODEL') return
    const { steps, usage } = this.counted
    this.counted = { steps: steps + 1, usage: addUsage(usage, step.usage) }
  }

  private async write(given: NewStep): Promise<RecordedStep> {
    const { steps, execution, keeper } = this.params
    this.mayWrite()
    const owner = execution.lease?.owner ?? ''
    const recorded: RecordedStep = {
      step: { ...given, number: this.recorded.length + 1 } as Step,
      results: new Map(),
    }
    this.recorded.push(recorded)
    this.count(recorded.step)
    const isOurs =
      (await keeper.renew(this.progress)) &&
      (await steps.append({ executionId: execution.id, owner, step: recorded.step }))
    if (!isOurs) throw new LeaseLost()
    this.hasGrown = true
    return recorded
  }
}
