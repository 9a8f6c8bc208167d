import fc from 'fast-check'
import { CANCELLED, type Execution, failure, NO_USAGE, type Outcome } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { QueuedExecution, System } from '../../../lib/core/ports.ts'
import { processDeadLetter } from '../../../lib/engine/maintenance/dead-letter.ts'
import { sweep } from '../../../lib/engine/maintenance/sweep.ts'
import { anExecution, leased } from '../executions.ts'
import { recorded } from './history.ts'
import type { Params, Port } from './model.ts'

const TIMES = leaseTimes()
/** Longer than any lease lasts and than the sweeper ever waits. */
const LONG = TIMES.graceMs * 6
const DEADLINE_MS = 20 * TIMES.leaseMs
const START = 1_800_000_000_000
/** What the synchronous run that is worker 0's at first is created with; else it waits for a claim. */
const FIRST_LEASE = { owner: 'worker-0', expiresAt: START + TIMES.leaseMs }

export const anExecutionOfTheWorld = (isSync: boolean) =>
  anExecution({ now: START, deadlineMs: DEADLINE_MS, lease: isSync ? FIRST_LEASE : null })

const deeds = ['claim', 'beat', 'step', 'result', 'finish', 'fail', 'release', 'giveUp'] as const
const others = ['cancel', 'delete', 'sweep', 'bury'] as const
export type Command =
  | { kind: (typeof deeds)[number]; worker: number }
  | { kind: (typeof others)[number] }
  | { kind: 'pass'; ms: number }

const worker = fc.nat({ max: 2 })
const ms = fc.constantFrom(1, TIMES.heartbeatMs, TIMES.leaseMs, TIMES.leaseMs + 1, LONG)
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('claim', 'step'), worker }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom(...deeds), worker }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...others) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass'), ms }) },
)
const batch = fc.array(anyCommand, { minLength: 1, maxLength: 5, size: 'max' })

/** What chance alone seldom brings about: batches in which one takes over while another is still at it. */
const encounter = fc
  .tuple(worker, worker, fc.constantFrom(LONG, DEADLINE_MS))
  .map(([a, b, ms]): Command[][] => {
    const claimed: Command[] = [{ kind: 'claim', worker: a }]
    const takenOver: Command[] = [
      { kind: 'step', worker: a },
      { kind: 'pass', ms },
      { kind: 'claim', worker: b },
    ]
    const both = (kind: 'step' | 'result'): Command[] => [a, b].map((worker) => ({ kind, worker }))
    return [claimed, takenOver, both('step'), both('result')]
  })
const lateWorker = fc
  .tuple(worker, fc.constantFrom(LONG, DEADLINE_MS), fc.constantFrom('claim', 'beat'))
  .map(([worker, ms, kind]): Command[][] => [[{ kind: 'pass', ms }], [{ kind: 'sweep' }, { kind, worker }]])

/** How a life may go: batches of commands that are given at the same time, and what brings it to its end at last. */
export const lives = fc.record({
  isSync: fc.boolean(),
  end: fc.constantFrom('worker', 'dead letter', 'deadline'),
  batches: fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: batch.map((commands) => [commands]) },
        { weight: 1, arbitrary: encounter },
        { weight: 1, arbitrary: lateWorker },
      ),
      { minLength: 1, maxLength: 7, size: 'max' },
    )
    .map((parts) => parts.flat()),
})

/** A worker's turn: the execution as it claimed it, the steps that it knows of, and the end that it has come to. */
type Turn = {
  execution: Execution
  owner: string
  steps: number
  end?: Pick<Finish, 'outcome' | 'finishedAt'>
}
type Finish = Params<'finish'>

/**
 * Three workers, a client and the system around one execution, at a clock of their own. A worker does not stop when it
 * has lost its lease: it goes on until it claims the execution again.
 */
export class World {
  readonly queue: QueuedExecution[] = []
  readonly history
  private readonly port: Port
  private readonly turns: Turn[]
  private readonly execution: Execution
  private readonly system: System
  private now: number
  private claims = 0

  constructor(port: Port, execution: Execution) {
    const { port: recording, history } = recorded(port)
    this.port = recording
    this.history = history
    this.execution = execution
    this.now = Date.parse(execution.createdAt)
    const refuse = () => {
      throw new Error('nothing here needs an id')
    }
    this.system = { now: () => this.now, newId: refuse }
    this.turns = [0, 1, 2].map((i) => ({ execution, owner: `worker-${i}`, steps: 0 }))
  }

  /** Carries a command out. Resolves to what the one who gave it is told. */
  async run(command: Command): Promise<unknown> {
    if ('worker' in command) return this.work(command.kind, command.worker)
    if ('ms' in command) {
      this.now += command.ms
      return null
    }
    const { port, system, queue } = this
    const { id, organizationId } = this.execution
    if (command.kind === 'delete') return port.delete({ id, organizationId })
    const send = async (message: QueuedExecution) => void queue.push(message)
    if (command.kind === 'bury')
      return processDeadLetter({ executions: port, queue: { send }, system, id, organizationId })
    if (command.kind === 'cancel')
      return port.end({ id, organizationId, error: CANCELLED, finishedAt: this.at() })
    return sweep({ executions: port, queue: { send }, system, times: TIMES })
  }

  /** Everybody has died and every message is lost: what the system does then. */
  async settle(by: 'worker' | 'dead letter' | 'deadline'): Promise<void> {
    this.queue.length = 0
    this.now = (by === 'deadline' ? Math.max(this.now, this.execution.deadlineAt) : this.now) + LONG
    await this.run({ kind: 'sweep' })
    for (const _ of this.queue.splice(0)) {
      if (by === 'dead letter') await this.dieAgainAndAgain()
      else {
        await this.run({ kind: 'claim', worker: 0 })
        await this.run({ kind: 'finish', worker: 0 })
      }
    }
  }

  /** Each message becomes a dead letter, and each worker dies before it gets a step forward. */
  private async dieAgainAndAgain(): Promise<void> {
    while ((await this.run({ kind: 'bury' })) === 'enqueued') {
      this.queue.length = 0
      await this.run({ kind: 'claim', worker: 0 })
      this.now += LONG
    }
  }

  private async work(kind: (typeof deeds)[number], worker: number): Promise<unknown> {
    const { port } = this
    const turn = this.turns[worker]
    if (!turn) throw new Error(`there is no worker ${worker}`)
    const { id } = this.execution
    const { execution, owner } = turn
    const until = this.now + TIMES.graceMs
    const lease = { owner, expiresAt: this.now + TIMES.leaseMs }
    // Offered again, as when the database did not answer, an end is the same.
    const finish = (outcome: Outcome) => {
      turn.end ??= { outcome, finishedAt: this.at() }
      return port.finish({ execution: leased(execution, owner), ...turn.end })
    }

    if (kind === 'claim') return this.claim(worker)
    if (kind === 'beat') return port.renew({ id, lease })
    if (kind === 'release') return port.release({ id, owner, until, error: null })
    if (kind === 'giveUp') return port.release({ id, owner, until, error: { code: 'Busy', message: owner } })
    if (kind === 'fail') return finish(failure({ code: 'Failed', message: owner }))
    if (kind === 'finish')
      return finish({ status: 'SUCCESS', output: { by: owner }, steps: turn.steps, ...SPENT })
    if (kind === 'result') return turn.steps > 0 && port.appendResult(resultOf(id, turn))
    // As the journal does: a step is written behind a renewal.
    const number = turn.steps + 1
    if (!(await port.renew({ id, lease, progress: { steps: number, ...SPENT } }))) return false
    const isOurs = await port.append({ executionId: id, owner, step: stepOf(owner, number) })
    if (isOurs) turn.steps = Math.max(turn.steps, number)
    return isOurs
  }

  /** By an owner that never was before, who reads what there is when others have been at work. */
  private async claim(worker: number): Promise<unknown> {
    const { id } = this.execution
    const owner = `worker-${worker}-claim-${++this.claims}`
    const lease = { owner, expiresAt: this.now + TIMES.leaseMs }
    const claimed = await this.port.claim({ id, lease, now: this.now })
    if (typeof claimed === 'string') return claimed
    const recorded = claimed.attempts > 1 ? await this.port.read({ executionId: id }) : []
    this.turns[worker] = { execution: claimed, owner, steps: recorded.length }
    return { claimed, recorded }
  }

  private at = () => new Date(this.now).toISOString()
}

const SPENT = { usage: NO_USAGE, model: null }
const AT = { startedAt: '2027-01-15T08:00:00.000Z', finishedAt: '2027-01-15T08:00:01.000Z' }

const stepOf = (owner: string, number: number) => ({
  number,
  ...AT,
  kind: 'CODE' as const,
  name: `step-${number}`,
  value: owner,
})

/** Of the one call of a worker's last step. Two workers may get different results. */
const resultOf = (executionId: string, { owner, steps: number }: Turn) => ({
  executionId,
  number,
  result: { callId: 'call', result: { ok: true as const, value: owner }, ...AT },
})
