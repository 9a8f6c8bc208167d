import type { Version } from '../../../lib/core/agent.ts'
import type { Execution, ExecutionSummary, Outcome } from '../../../lib/core/execution.ts'
import type { ExecutionError } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { DeliveryMessage, QueuedExecution } from '../../../lib/core/ports/queues.ts'
import { scoreExecutionId } from '../../../lib/core/run-score.ts'
import type { Scorer } from '../../../lib/core/score.ts'
import type { ScoreSums } from '../../../lib/core/score-statistics.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { deliverEvents } from '../../../lib/engine/notifications/deliver.ts'
import type { DeliveryEngine } from '../../../lib/engine/notifications/open-delivery-engine.ts'
import { record } from '../../../lib/engine/submit/record.ts'
import { buildRunRequest, type RunRequest } from '../../../lib/engine/submit/run-request.ts'
import { openScoreEngine, type ScoreEngine, scoreRun } from '../../../lib/engine/submit/score-run.ts'
import { foldUsage, newFoldMemory } from '../../../lib/engine/usage/fold.ts'
import { system } from '../../../lib/system.ts'
import { NO_PROGRESS } from '../engine/executions.ts'
import { anOutbox } from '../notifications/an-outbox.ts'
import { aVersion, Died } from '../rollouts/rollout-run.ts'

const OBJECT = { type: 'object', description: 'Any object.' }
export const FAITHFUL: Scorer = { agent: 'faithful', min: 0.7, sample: 100 }

/** An agent whose runs are scored, its scorer, the functions that do it, and a clock. */
export class ScoredService {
  readonly outbox: ReturnType<typeof anOutbox>
  readonly table: Table
  readonly scored: Version
  readonly scorer: Version
  /** Messages of runs. */
  queued: QueuedExecution[] = []

  private constructor(table: Table, scorers: Scorer[]) {
    this.table = table
    this.outbox = anOutbox(table)
    const { organizationId } = this.outbox
    this.scored = aVersion({ organizationId, slug: 'scored', scorers })
    this.scorer = aVersion({
      ...{ organizationId, slug: 'faithful', inputSchema: { input: OBJECT, output: OBJECT } },
      outputSchema: { score: { type: 'number', description: 'From 0 to 1.' } },
    })
    this.outbox.engine.score = this.scoreOn(table)
  }

  static async create(table: Table, scorers = [FAITHFUL]) {
    const service = new ScoredService(table, scorers)
    const { agents } = openStores(table)
    for (const version of [service.scored, service.scorer]) await agents.publish({ version, code: null })
    return service
  }

  get organizationId(): string {
    return this.outbox.organizationId
  }

  private engineOn(table: Table): ScoreEngine {
    const queue = { send: async (message: QueuedExecution) => void this.queued.push(message) }
    return openScoreEngine({ ...this.outbox.on(table), queue, system: this.outbox.clock })
  }

  scoreOn(table: Table, admit?: ScoreEngine['admit']): DeliveryEngine['score'] & {} {
    return (execution) => scoreRun({ ...this.engineOn(table), ...(admit && { admit }) }, execution)
  }

  /** A run that a worker has begun. */
  async start(given: Partial<RunRequest> = {}) {
    const request = await buildRunRequest(given.version ?? this.scored, { text: 'x' }, { tenantId: 'acme' })
    const ids = { executionId: system.newId(), idempotencyId: null, isBound: false }
    const lease = { owner: system.newId(), expiresAt: this.outbox.now() + leaseTimes().leaseMs }
    const recorded = await record(this.engineOn(this.table), { ...request, ...given }, ids, lease)
    return recorded?.execution as Execution
  }

  finish(execution: Execution, outcome: Partial<Outcome> = {}, table = this.table) {
    return this.outbox.on(table).executions.finish({
      execution: execution as never,
      outcome: { status: 'SUCCESS', output: { text: 'y' }, ...NO_PROGRESS, ...outcome } as Outcome,
      finishedAt: new Date(this.outbox.clock.now()).toISOString(),
    })
  }

  /** A run that has ended, by the scorer's version or by the one that is scored. */
  async run(given: Partial<RunRequest> = {}, outcome: Partial<Outcome> = {}): Promise<Execution> {
    const execution = await this.start(given)
    await this.finish(execution, outcome)
    return execution
  }

  /** The messages of events, by a process on this table. A message of one that dies comes again. */
  async deliver(table = this.table): Promise<void> {
    const messages: DeliveryMessage[] = this.outbox.messages()
    this.outbox.dropMessages()
    const engine = { ...this.outbox.engine, ...this.outbox.on(table), score: this.scoreOn(table) }
    for (const message of messages)
      await deliverEvents(engine, message).catch(async (error: unknown) => {
        if (!(error instanceof Died)) throw error
        await this.outbox.engine.queue.send(message as never)
      })
  }

  /** What a worker makes of the queued runs of scorers. */
  async work(outcome: object, table = this.table): Promise<void> {
    const { executions } = this.outbox.on(table)
    for (let next = this.queued.shift(); next; next = this.queued.shift()) {
      const lease = { owner: system.newId(), expiresAt: this.outbox.now() + leaseTimes().leaseMs }
      const claimed = await executions
        .claim({ id: next.executionId, lease, now: this.outbox.now() })
        .catch(this.again(next))
      if (typeof claimed !== 'object') continue
      await this.finish(claimed, outcome, table).catch(this.again(next))
    }
  }

  private again = (message: QueuedExecution) => (error: unknown) => {
    if (!(error instanceof Died)) throw error
    this.queued.push(message)
    throw error
  }

  /** Lets scorers end so for what has ended. */
  private async endScorers(outcome: object): Promise<void> {
    await this.deliver()
    await this.work(outcome)
    await this.deliver()
  }

  /** Scores what has ended. */
  score = (score: number, reason?: string) =>
    this.endScorers({ output: { score, ...(reason && { reason }) } })

  fail = (error: ExecutionError) => this.endScorers({ status: 'ERROR', error })

  idOf = ({ id }: Pick<Execution, 'id'>) => scoreExecutionId(id, FAITHFUL.agent)

  async read(id: string): Promise<ExecutionSummary | null> {
    return this.outbox.stores.executions.getSummary({ organizationId: this.organizationId, id })
  }

  async scoresOf({ id }: Pick<Execution, 'id'>) {
    return (await this.read(id))?.scores.map(({ result }) => result)
  }

  /** The runs of scorers that exist. */
  async scorerRuns(): Promise<ExecutionSummary[]> {
    const { organizationId, scorer, outbox } = this
    const filter = { organizationId, agentId: scorer.agentId, status: null, tenantId: null }
    return (await outbox.stores.executions.listSummaries({ ...filter, limit: 100, after: null })).items
  }

  /** Rates a run as a reviewer or, without `isReview`, as a user. */
  async rate(id: string, rating: 1 | -1, isReview: boolean): Promise<void> {
    const { organizationId, outbox } = this
    const updatedAt = new Date(outbox.now()).toISOString()
    const feedback = { rating, correctedOutput: null, note: null, updatedAt }
    const writer = system.newId()
    await outbox.stores.executions.giveFeedback({ organizationId, id, feedback, isReview, writer })
  }

  /** The sums of the scores of the version so far. */
  async sums(): Promise<ScoreSums[]> {
    const { usage } = openStores(this.table)
    this.outbox.pass(120_000)
    await foldUsage({ usage, system: this.outbox.clock, memory: newFoldMemory() })
    const found: ScoreSums[] = []
    const range = { interval: 'minute' as const, from: this.outbox.now() - 3_600_000, to: this.outbox.now() }
    for await (const { rows } of usage.read({ organizationId: this.organizationId, ...range }))
      found.push(...rows.filter(({ scorer }) => scorer !== null).map(({ scores }) => scores))
    return found
  }
}
