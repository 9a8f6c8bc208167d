import fc from 'fast-check'
import { type Execution, failure, type Outcome } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import type { System } from '../../../lib/core/ports/system.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { processDeadLetter, sweep } from '../../../lib/engine/maintenance.ts'
import { anExecution, leased } from '../engine/executions.ts'
import { recordHistory } from './history.ts'
import type { Params, Port } from './reference-model.ts'

const TIMES = leaseTimes()
/** Longer than a lease and than the longest sweep interval. */
const LONG_MS = TIMES.graceMs * 6
const DEADLINE_MS = 20 * TIMES.leaseMs
const START = 1_800_000_000_000
/** A synchronous run is created with the lease of its worker. */
const FIRST_LEASE = { owner: 'worker-0', expiresAt: START + TIMES.leaseMs }

export const simulatedExecution = (isSync: boolean) =>
  anExecution({ now: START, deadlineMs: DEADLINE_MS, lease: isSync ? FIRST_LEASE : null })

const WORKER_COMMANDS = [
  'claim',
  'heartbeat',
  'step',
  'result',
  'succeed',
  'fail',
  'release',
  'release-after-error',
] as const
const OTHER_COMMANDS = ['cancel', 'delete', 'sweep', 'dead-letter'] as const
export type Command =
  | { kind: (typeof WORKER_COMMANDS)[number]; worker: number }
  | { kind: (typeof OTHER_COMMANDS)[number] }
  | { kind: 'wait'; ms: number }

const worker = fc.nat({ max: 2 })
const ms = fc.constantFrom(1, TIMES.heartbeatMs, TIMES.leaseMs, TIMES.leaseMs + 1, LONG_MS)
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('claim', 'step'), worker }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom(...WORKER_COMMANDS), worker }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...OTHER_COMMANDS) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), ms }) },
)
const batch = fc.array(anyCommand, { minLength: 1, maxLength: 5, size: 'max' })

/** One worker claims the execution while another still works on it. Random commands rarely lead to this. */
const takeover = fc
  .tuple(worker, worker, fc.constantFrom(LONG_MS, DEADLINE_MS))
  .map(([a, b, ms]): Command[][] => {
    const claim: Command[] = [{ kind: 'claim', worker: a }]
    const claimByOther: Command[] = [
      { kind: 'step', worker: a },
      { kind: 'wait', ms },
      { kind: 'claim', worker: b },
    ]
    const both = (kind: 'step' | 'result'): Command[] => [a, b].map((worker) => ({ kind, worker }))
    return [claim, claimByOther, both('step'), both('result')]
  })
const lateWorker = fc
  .tuple(worker, fc.constantFrom(LONG_MS, DEADLINE_MS), fc.constantFrom('claim', 'heartbeat'))
  .map(([worker, ms, kind]): Command[][] => [[{ kind: 'wait', ms }], [{ kind: 'sweep' }, { kind, worker }]])

/** Batches of concurrent commands, and what ends the execution if they do not. */
export const lifecycles = fc.record({
  isSync: fc.boolean(),
  end: fc.constantFrom('worker', 'dead-letter', 'deadline'),
  batches: fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: batch.map((commands) => [commands]) },
        { weight: 1, arbitrary: takeover },
        { weight: 1, arbitrary: lateWorker },
      ),
      { minLength: 1, maxLength: 7, size: 'max' },
    )
    .map((parts) => parts.flat()),
})

/** A worker's view: the execution as it was claimed, the steps that it knows, and its outcome. */
type Attempt = {
  execution: Execution
  owner: string
  steps: number
  finished?: Pick<Params<'finish'>, 'outcome' | 'finishedAt'>
}

/**
 * Three workers, a client and the system operate on one execution, with a simulated clock. A worker that has lost its
 * lease does not notice: it continues until its next claim.
 */
export class Simulation {
  readonly queue: QueuedExecution[] = []
  readonly history
  private readonly port: Port
  private readonly attempts: Attempt[]
  private readonly execution: Execution
  private readonly system: System
  private now: number
  private claims = 0

  constructor(port: Port, execution: Execution) {
    const recorded = recordHistory(port)
    this.port = recorded.port
    this.history = recorded.history
    this.execution = execution
    this.now = Date.parse(execution.createdAt)
    const newId = () => {
      throw new Error('The simulation needs no new IDs.')
    }
    this.system = { now: () => this.now, newId }
    this.attempts = [0, 1, 2].map((i) => ({ execution, owner: `worker-${i}`, steps: 0 }))
  }

  /** Runs a command and returns the result that its caller sees. */
  async run(command: Command): Promise<unknown> {
    if ('worker' in command) return this.runWorker(command.kind, command.worker)
    if ('ms' in command) {
      this.now += command.ms
      return null
    }
    const { port, system, queue } = this
    const { id, organizationId } = this.execution
    if (command.kind === 'delete') return port.delete({ id, organizationId, now: this.now })
    const send = async (message: QueuedExecution) => void queue.push(message)
    if (command.kind === 'dead-letter')
      return processDeadLetter({ executions: port, steps: port, queue: { send }, system, id, organizationId })
    if (command.kind === 'cancel')
      return endExecution({ executions: port, steps: port, system }, { id, organizationId, error: CANCELLED })
    return sweep({ executions: port, steps: port, queue: { send }, system, times: TIMES })
  }

  /** All workers die and all messages are lost: runs what the system does to end the execution. */
  async recover(by: 'worker' | 'dead-letter' | 'deadline'): Promise<void> {
    this.queue.length = 0
    this.now = (by === 'deadline' ? Math.max(this.now, this.execution.deadlineAt) : this.now) + LONG_MS
    await this.run({ kind: 'sweep' })
    for (const _ of this.queue.splice(0)) {
      if (by === 'dead-letter') await this.exhaustAttempts()
      else {
        await this.run({ kind: 'claim', worker: 0 })
        await this.run({ kind: 'succeed', worker: 0 })
      }
    }
  }

  /** Every worker dies before its first step, until the message is dead-lettered for good. */
  private async exhaustAttempts(): Promise<void> {
    while ((await this.run({ kind: 'dead-letter' })) === 'enqueued') {
      this.queue.length = 0
      await this.run({ kind: 'claim', worker: 0 })
      this.now += LONG_MS
    }
  }

  private async runWorker(kind: (typeof WORKER_COMMANDS)[number], worker: number): Promise<unknown> {
    const { port } = this
    const attempt = this.attempts[worker]
    if (!attempt) throw new Error(`There is no worker ${worker}.`)
    const { id } = this.execution
    const { execution, owner } = attempt
    const until = this.now + TIMES.graceMs
    const lease = { owner, expiresAt: this.now + TIMES.leaseMs }
    // A worker that retries `finish`, because the database did not respond, sends the same outcome.
    const finish = (outcome: Outcome) => {
      attempt.finished ??= { outcome, finishedAt: this.timestamp() }
      return port.finish({ execution: leased(execution, owner), ...attempt.finished })
    }

    if (kind === 'claim') return this.claim(worker)
    if (kind === 'heartbeat') return port.renew({ id, lease })
    if (kind === 'release') return port.release({ id, owner, until, error: null })
    if (kind === 'release-after-error')
      return port.release({ id, owner, until, error: { code: 'Busy', message: owner } })
    if (kind === 'fail') return finish(failure({ code: 'Failed', message: owner }))
    if (kind === 'succeed')
      return finish({ status: 'SUCCESS', output: { by: owner }, steps: attempt.steps, ...PROGRESS })
    if (kind === 'result') return attempt.steps > 0 && port.appendResult(resultOf(id, attempt))
    // As in the journal: the lease is renewed before a worker's first step is written.
    const number = attempt.steps + 1
    const progress = { steps: number, ...PROGRESS }
    if (!(await port.renew({ id, lease, progress }))) return false
    const isOwn = await port.append({ executionId: id, owner, step: stepOf(owner, number), progress })
    if (isOwn) attempt.steps = Math.max(attempt.steps, number)
    return isOwn
  }

  /** Claims with a new owner, and reads the checkpoints of earlier attempts. */
  private async claim(worker: number): Promise<unknown> {
    const { id } = this.execution
    const owner = `worker-${worker}-claim-${++this.claims}`
    const lease = { owner, expiresAt: this.now + TIMES.leaseMs }
    const claimed = await this.port.claim({ id, lease, now: this.now })
    if (typeof claimed === 'string') return claimed
    const recorded = claimed.attempts > 1 ? await this.port.read({ executionId: id }) : []
    this.attempts[worker] = { execution: claimed, owner, steps: recorded.length }
    return { claimed, recorded }
  }

  private timestamp = () => new Date(this.now).toISOString()
}

const PROGRESS = { usage: NO_USAGE, model: null }
const AT = { startedAt: '2027-01-15T08:00:00.000Z', finishedAt: '2027-01-15T08:00:01.000Z' }

const stepOf = (owner: string, number: number) => ({
  number,
  ...AT,
  kind: 'CODE' as const,
  name: `step-${number}`,
  value: owner,
})

/** The result of the one call of a worker's last step. Two workers may get different results. */
const resultOf = (executionId: string, { owner, steps: number }: Attempt) => ({
  executionId,
  number,
  result: { callId: 'call', result: { ok: true as const, value: owner }, ...AT },
})
