import { addUsage, type Execution, NO_USAGE, type Usage } from '../core/execution.ts'
import type { Ambient, ExecutionStore } from '../core/ports.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../core/step.ts'

/** Thrown to a run whose lease is gone: somebody else has ended the execution, or has it now. */
export class LeaseLost extends Error {}

type Params = {
  executions: ExecutionStore
  steps: StepStore
  ambient: Ambient
  execution: Execution
  leaseMs: number
}

export type Progress = { steps: number; usage: Usage; model: string | null }

/** A step without its number, which is its place in the journal. */
export type NewStep = Step extends infer S ? (S extends Step ? Omit<S, 'number'> : never) : never

/**
 * The checkpoints of one run: those of the workers before, and those that this one adds. Each is written behind a
 * renewal of the lease, so that a worker that has lost it writes no more.
 */
export class Journal {
  readonly recorded: RecordedStep[]
  model: string | null = null
  private readonly params: Params
  /** Writes happen one after the other, as their numbers do. */
  private queue: Promise<unknown> = Promise.resolve()
  private isClosed = false

  private constructor(params: Params, recorded: RecordedStep[]) {
    this.params = params
    this.recorded = recorded
  }

  /** An execution's first worker has nothing to read. */
  static async open(params: Params): Promise<Journal> {
    const { execution, steps } = params
    return new Journal(params, execution.attempts > 1 ? await steps.read({ executionId: execution.id }) : [])
  }

  get progress(): Progress {
    const responses = this.recorded.flatMap(({ step }) => (step.kind === 'MODEL' ? [step] : []))
    const usage = responses.reduce((sum, step) => addUsage(sum, step.usage), NO_USAGE)
    return { steps: responses.length, usage, model: this.model }
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

  /** @throws LeaseLost */
  async appendResult({ step, results }: RecordedStep, result: CallResult): Promise<void> {
    if (this.isClosed) throw new LeaseLost()
    const { steps, execution } = this.params
    await steps.appendResult({ executionId: execution.id, number: step.number, result })
    results.set(result.callId, result)
  }

  private async write(given: NewStep): Promise<RecordedStep> {
    const { executions, steps, ambient, execution, leaseMs } = this.params
    if (this.isClosed) throw new LeaseLost()
    const owner = execution.lease?.owner ?? ''
    const recorded: RecordedStep = {
      step: { ...given, number: this.recorded.length + 1 } as Step,
      results: new Map(),
    }
    this.recorded.push(recorded)
    const lease = { owner, expiresAt: ambient.now() + leaseMs }
    const isOurs =
      (await executions.renew({ id: execution.id, lease, progress: this.progress })) &&
      (await steps.append({ executionId: execution.id, owner, step: recorded.step }))
    if (isOurs) return recorded
    throw new LeaseLost()
  }
}
