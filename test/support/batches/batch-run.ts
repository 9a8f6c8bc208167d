import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Version } from '../../../lib/core/agent.ts'
import type { Batch, LineInput } from '../../../lib/core/batch.ts'
import { lineExecutionId, NO_TOTALS, sumTotals, totalsOf } from '../../../lib/core/batch.ts'
import { type Execution, isFinal, type Outcome } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import type { ExecutionStore } from '../../../lib/core/ports/executions.ts'
import type { BatchQueue, FeedMessage, FeedQueue, QueuedExecution } from '../../../lib/core/ports/queues.ts'
import type { BatchOptions } from '../../../lib/core/run-options.ts'
import type { TrialSettings } from '../../../lib/core/trial.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { openStores, type Stores } from '../../../lib/dynamodb/open-stores.ts'
import {
  activeShard,
  OPEN_SHARDS,
  openShard,
  STATUS_SHARDS,
  shardOf,
} from '../../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { type BatchEngine, openBatchEngine } from '../../../lib/engine/batches/batch-engine.ts'
import { afterLine, feedBatch } from '../../../lib/engine/batches/feed.ts'
import { countLines } from '../../../lib/engine/batches/read.ts'
import { afterEnd, endExecution } from '../../../lib/engine/end-execution.ts'
import { newLease, queuedOf } from '../../../lib/engine/engine.ts'
import { sweep } from '../../../lib/engine/maintenance.ts'
import { afterSuspension, openWaitLimits, suspend } from '../../../lib/engine/waiting/suspend.ts'
import { wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { NO_PROGRESS } from '../engine/executions.ts'
import { type Fault, FaultyWorker } from '../waiting/faulty-worker.ts'
import { aBatch } from './a-batch.ts'

const TIMES = leaseTimes()
/** Deliveries in a row, before time passes. */
const MAX_ROUNDS = 20_000

/** Of a trial that repeats what its test says. */
const NO_FILTER: TrialSettings = {
  ...{ tools: { default: 'recorded' }, models: 'live', steps: 'recorded', ignore: [] },
  ...{ from: null, to: null, tenantId: null, feedback: null },
}

type Message = { body: FeedMessage | QueuedExecution; visibleAt: number; receives: number }

export type Options = {
  table: Table
  version: Version
  lines: number
  lanes: number
  maxCostUsd?: number
  options?: BatchOptions
  inputOf?: (line: number) => LineInput['input']
  /** A trial of these originals. */
  trial?: { originals: string[]; settings?: Partial<TrialSettings> }
  /** How the run of a line ends; success by default. */
  outcomeOf?: (line: number) => Outcome
  /** What it waits for before, one after the other; nothing by default. */
  waitsOf?: (line: number) => PlannedWait[]
  faults?: readonly Fault[]
  /** Called before each request of a worker, with its position. */
  before?: (at: number) => Promise<unknown>
  /** Milliseconds that each request of a worker is delayed by. */
  delay?: () => number
}

/** `ms`: until it is over; null: when somebody else ends it. */
export type PlannedWait = Pick<Wait, 'kind' | 'name' | 'id'> & { ms: number | null; costUsd?: number }

export const success = (costUsd?: number): Outcome => {
  const usage = costUsd === undefined ? NO_PROGRESS.usage : { inputTokens: 1, outputTokens: 1, costUsd }
  return { ...NO_PROGRESS, usage, status: 'SUCCESS', output: { answer: 'a' } }
}

/**
 * A batch, its workers, queue and sweeper. Workers do not run agents: a line ends as the test says. Time passes only
 * when the test says so, except for one millisecond each time somebody looks at the clock.
 */
export class BatchRun {
  batch!: Batch
  readonly problems: string[] = []
  /** What workers have requested so far: methods of the table, and `send` and `feed`. */
  readonly requests: string[] = []
  /** Executions that are open, and have not waited. */
  readonly open = new Set<string>()
  /** By line: how many of its waits it has reached. */
  private readonly reached = new Map<number, number>()
  maxOpen = 0
  /** Lines whose runs do not end. */
  readonly hung = new Set<number>()
  messages: Message[] = []
  readonly stores: Stores
  readonly options: Options
  private now = Date.now()

  private constructor(options: Options) {
    this.options = options
    this.stores = openStores(options.table)
  }

  static async create(options: Options): Promise<BatchRun> {
    const run = new BatchRun(options)
    const { version, maxCostUsd = null, inputOf = (line) => ({ question: String(line) }), trial } = options
    const lines = Array.from({ length: options.lines }, (_, line) => ({
      customId: run.customIdOf(line),
      input: trial ? {} : inputOf(line),
    }))
    const { organizationId, agentId, id: versionId } = version
    const given = aBatch({
      ...{ organizationId, agentId, versionId, lines, maxCostUsd },
      lanes: Math.min(options.lanes, lines.length),
      options: options.options ?? {},
      trial: trial ? { ...NO_FILTER, ...trial.settings } : null,
      createdAt: new Date(run.now).toISOString(),
      openUntil: run.now + TIMES.leaseMs,
    })
    const created = await run.stores.batches.create(given)
    if (!created) throw new Error('The batch exists.')
    run.batch = created
    run.push(run.ids)
    return run
  }

  private customIdOf = (line: number) => this.options.trial?.originals[line] ?? `c${line}`

  get ids() {
    return { batchId: this.batch.id, organizationId: this.batch.organizationId }
  }

  get key() {
    return { organizationId: this.batch.organizationId, id: this.batch.id }
  }

  private readonly system = { newId: system.newId, now: () => ++this.now }
  time = (): number => this.now
  pass(ms: number): void {
    this.now += ms
  }

  private push({ delayMs = 0, ...body }: (FeedMessage | QueuedExecution) & { delayMs?: number }): void {
    this.messages.push({ body, visibleAt: this.now + delayMs, receives: 0 })
  }

  private readonly queue: BatchQueue & FeedQueue = {
    send: async (message) => this.push(message),
    sendBatch: async (messages) => {
      for (const message of messages) this.push(message as FeedMessage | QueuedExecution)
    },
    feed: async (message) => this.push(message),
    fire: async () => undefined,
  }

  /** A worker process of its own. */
  newWorker(): { worker: FaultyWorker; engine: BatchEngine } {
    const { options, system, queue } = this
    const worker = new FaultyWorker({
      next: (method) => this.requests.push(method) - 1,
      before: async (at) => {
        const ms = options.delay?.()
        if (ms) await pause(ms)
        await options.before?.(at)
      },
      faults: options.faults ?? [],
    })
    const stores = openStores(worker.tableOf(options.table))
    const executions = this.watched(stores.executions)
    const engine = openBatchEngine({
      ...stores,
      ...openWaitLimits({ executions, system }),
      executions,
      queue: { send: worker.wrap('send', queue.send), feed: worker.wrap('feed', queue.feed) },
      system,
      times: TIMES,
    })
    engine.afterLine = (ended) => afterLine(engine, ended)
    return { worker, engine }
  }

  /** Notes which executions are open. */
  private watched(executions: ExecutionStore): ExecutionStore {
    const { open } = this
    /** Closes an execution before this is done. */
    const closing =
      <P extends { id: string } | { execution: { id: string } }, R>(close: (params: P) => R) =>
      (params: P): R => {
        open.delete('execution' in params ? params.execution.id : params.id)
        return close(params)
      }
    return {
      ...executions,
      create: async (params) => {
        const isNew = await executions.create(params)
        if (isNew && !isFinal(params.execution)) open.add(params.execution.id)
        this.maxOpen = Math.max(this.maxOpen, open.size)
        return isNew
      },
      finish: closing(executions.finish),
      suspend: closing(executions.suspend),
      end: closing(executions.end),
    }
  }

  /** What can be delivered now. */
  get visible(): Message[] {
    return this.messages.filter(({ visibleAt, body }) => visibleAt <= this.now && !this.isHung(body))
  }

  private isHung(body: Message['body']): boolean {
    const hung = [...this.hung].map((line) => lineExecutionId(this.batch, line))
    return 'executionId' in body && hung.includes(body.executionId)
  }

  /** Delivers a message. `isDuplicate`: it stays visible, as SQS may deliver it again. */
  async deliver(index = 0, isDuplicate = false): Promise<void> {
    const { visible } = this
    const message = visible[index % Math.max(visible.length, 1)]
    if (!message) return
    message.receives += 1
    if (message.receives > MAX_ATTEMPTS) return this.remove(message)
    if (!isDuplicate) message.visibleAt = this.now + TIMES.visibilityMs
    const { worker, engine } = this.newWorker()
    try {
      if ('batchId' in message.body) await feedBatch(engine, message.body)
      else {
        const retryInMs = await this.runLine(engine, message.body.executionId)
        if (retryInMs !== undefined) {
          message.visibleAt = this.now + retryInMs
          return
        }
      }
      if (!worker.isDead && !isDuplicate) this.remove(message)
    } catch (error) {
      if (!worker.isDead && !(error instanceof Error && error.name === 'Unavailable')) throw error
      if (!worker.isDead) message.visibleAt = this.now + 1_000
    }
  }

  /** What the worker of an execution does, without its agent. */
  private async runLine(engine: BatchEngine, id: string): Promise<number | undefined> {
    const lease = newLease(engine)
    const claimed = await engine.executions.claim({ id, lease, now: engine.system.now() })
    const execution = claimed === 'suspended' ? await wake(engine, id, lease) : claimed
    if (typeof execution === 'string') return undefined
    if ('retryInMs' in execution) return execution.retryInMs
    const line = execution.batch?.line ?? -1
    const count = this.reached.get(line) ?? 0
    const planned = this.options.waitsOf?.(line)[count]
    if (planned) {
      this.reached.set(line, count + 1)
      const { ms, costUsd, ...of } = planned
      const now = engine.system.now()
      const until = ms === null ? null : new Date(now + ms).toISOString()
      const wait: Wait = { ...of, since: new Date(now).toISOString(), until }
      const usage = { inputTokens: 1, outputTokens: 1, costUsd: costUsd ?? 0 }
      const progress = costUsd === undefined ? null : { ...NO_PROGRESS, steps: 1, usage }
      const suspension = await suspend(engine, execution, [wait], { progress })
      if (typeof suspension === 'string') return undefined
      if (!('code' in suspension)) {
        await afterSuspension(engine, execution, suspension)
        await afterLine(engine, execution)
        return undefined
      }
      this.problems.push(`Line ${line} was refused to wait.`)
    }
    const outcome = this.options.outcomeOf?.(line) ?? success()
    const finishedAt = new Date(engine.system.now()).toISOString()
    const ended = await engine.executions.finish({ execution, outcome, finishedAt })
    if (ended) await afterEnd(engine, ended)
    return undefined
  }

  private remove(message: Message): void {
    this.messages = this.messages.filter((other) => other !== message)
  }

  /** What the sweeper does every minute, for this batch: its timer is known. */
  async sweep(): Promise<void> {
    const { queue, system, stores } = this
    const ids = new Set(this.lineIds())
    const { executions } = openStores(this.indexTable(ids))
    const listStale: typeof executions.listStale = async (params) =>
      (await executions.listStale(params)).filter(({ id }) => ids.has(id))
    const swept = { ...this.watched(executions), listStale }
    await sweep({ ...stores, executions: swept, queue, system, times: TIMES })
    for (const execution of await this.executions())
      if (execution?.suspension && execution.suspension.until <= this.now)
        this.push({ ...queuedOf(execution), wakes: true })
    const batch = (await this.stored()) ?? (await stores.batches.getHidden(this.key))
    if (batch?.openUntil && batch.openUntil <= this.now) this.push(this.ids)
  }

  /** Most requests of a sweep are queries of partitions in which these executions cannot be. */
  private indexTable(ids: Set<string>): Table {
    const { table } = this.options
    const { organizationId } = this.batch
    const shardsOf = (id: string) => [
      openShard(shardOf(id, OPEN_SHARDS)),
      activeShard(organizationId, shardOf(id, STATUS_SHARDS)),
    ]
    const own = new Set([...ids].flatMap(shardsOf))
    return {
      ...table,
      query: async (query) => {
        const shard = query.ExpressionAttributeValues?.[':shard']
        return typeof shard !== 'string' || own.has(shard) ? table.query(query) : { items: [], lastKey: null }
      },
    }
  }

  lineIds = (): string[] =>
    Array.from({ length: this.batch.lines }, (_, line) => lineExecutionId(this.batch, line))

  stored = (): Promise<Batch | null> => this.stores.batches.get(this.key)

  counted = async () => countLines(this.stores, (await this.stored()) ?? this.batch)

  feed(): void {
    this.push(this.ids)
  }

  async cancel(): Promise<void> {
    const batch = await this.stored()
    if (batch && (await this.stores.batches.stop({ batch, error: CANCELLED, status: 'CANCELLING' })))
      this.push(this.ids)
  }

  /** What the API does with the execution of a line. */
  async cancelLine(line: number): Promise<void> {
    const { stores, queue, system, batch } = this
    const id = lineExecutionId(batch, line)
    const executions = this.watched(stores.executions)
    const { organizationId } = batch
    await endExecution({ ...stores, executions, queue, system }, { organizationId, id, error: CANCELLED })
  }

  /** Delivers everything that is visible, `parallel` messages at the same time. */
  async drain(parallel = 1): Promise<void> {
    for (let round = 0; this.visible.length > 0 && round < MAX_ROUNDS; round++)
      await Promise.all(Array.from({ length: parallel }, (_, index) => this.deliver(index)))
  }

  /** Delivers and sweeps as the service does until the batch has ended. Returns whether it did. */
  async settle(limitMs = 3_600_000): Promise<boolean> {
    const until = this.now + limitMs
    while (this.now < until) {
      await this.drain()
      const batch = await this.stored()
      if (!batch || batch.status === 'ENDED') return true
      await this.sweep()
      if (this.visible.length > 0) continue
      const times = this.messages.filter(({ body }) => !this.isHung(body)).map(({ visibleAt }) => visibleAt)
      const pauseMs = this.messages.length > 0 ? TIMES.leaseMs : 5 * TIMES.leaseMs
      const next = Math.min(...times.filter((time) => time > this.now), this.now + pauseMs)
      this.now = next + 1
    }
    return false
  }

  async executions(): Promise<(Execution | null)[]> {
    const { organizationId } = this.batch
    return Promise.all(this.lineIds().map((id) => this.stores.executions.get({ organizationId, id })))
  }

  /** Whatever is wrong with the batch after it should have ended. */
  async findProblems(): Promise<string[]> {
    const problems = [...this.problems]
    if (!(await this.settle())) return [...problems, 'The batch did not end.']
    // Messages that are delivered later change nothing.
    this.push(this.ids)
    await this.drain()
    const batch = await this.stored()
    if (!batch) return [...problems, 'The batch is gone.']
    const executions = await this.executions()
    const found = executions.filter((each) => each !== null)
    const open = found.filter((each) => !isFinal(each))
    if (open.length > 0) problems.push(`${open.length} lines are open.`)
    if (!batch.stopped && found.length < batch.lines)
      problems.push(`${batch.lines - found.length} lines are missing.`)
    const expected = found.map(totalsOf).reduce((a, b) => sumTotals([a, b]), NO_TOTALS)
    if (!isDeepStrictEqual(batch.totals, expected))
      problems.push(`The totals are ${JSON.stringify(batch.totals)}, not ${JSON.stringify(expected)}.`)
    if (this.maxOpen > batch.lanes) problems.push(`${this.maxOpen} lines were open in ${batch.lanes} lanes.`)
    if (batch.openUntil !== null) problems.push('The timer is still set.')
    const misplaced = found.filter(({ batch }) => batch?.customId !== this.customIdOf(batch?.line ?? -1))
    if (misplaced.length > 0) problems.push(`${misplaced.length} lines have the id of another one.`)
    return problems
  }
}
