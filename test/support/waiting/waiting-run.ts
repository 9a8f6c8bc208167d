import { setTimeout as pause } from 'node:timers/promises'
import { type Access, UNLIMITED } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import { type Execution, isFinal } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import type { BatchQueue, DelayedExecution, QueuedExecution } from '../../../lib/core/ports/queues.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import {
  activeShard,
  CLEANUP_SHARDS,
  cleanupShard,
  OPEN_SHARDS,
  openShard,
  STATUS_SHARDS,
  shardOf,
  TIMER_SHARDS,
  timerShard,
} from '../../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processDeadLetter, runCleanups, sweep } from '../../../lib/engine/maintenance.ts'
import { approvalIdOfWait } from '../../../lib/engine/waiting/approvals.ts'
import { decideApproval } from '../../../lib/engine/waiting/decide-approval.ts'
import { sendSignal } from '../../../lib/engine/waiting/send-signal.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { NO_DELIVERIES } from '../engine/engine-on.ts'
import { executionOf, leased } from '../engine/executions.ts'
import { readItems, setCounted } from '../lifecycle/tables.ts'
import { type Fault, FaultyWorker } from './faulty-worker.ts'
import type { Scenario } from './scenarios.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Deliveries in a row: a message that is visible again at once must not keep the clock from going on. */
const MAX_ROUNDS = 20
const TIMES = { ...leaseTimes(), backoffMs: 1_000 }
/** Longer than a test lets pass while the run does not wait, and a time that `setTimeout` can wait. */
const DEADLINE_MS = 20 * 86_400_000

type Message = { body: QueuedExecution; visibleAt: number; receives: number }

/** What a client was told. */
export type Acknowledged = {
  signals: { id: string; name: string; data: Json; at: number }[]
  decisions: string[]
  cancelled: boolean
}

type Options = {
  table: Table
  version: Version
  scenario: Scenario
  /** Whether the first worker is that of a synchronous request. */
  isSync: boolean
  faults?: readonly Fault[]
  /** Called before each request of a worker, with its position. */
  before?: (at: number) => Promise<unknown>
  /** Milliseconds that each request of a worker and of a client is delayed by. */
  delay?: () => number
}

/**
 * One run, its workers, clients, queue and sweeper. Time passes only when the test says so, except for one millisecond
 * each time somebody looks at the clock.
 */
export class WaitingRun {
  execution!: Execution
  readonly acknowledged: Acknowledged = { signals: [], decisions: [], cancelled: false }
  /** Problems found while it runs. */
  readonly problems: string[] = []
  isDeleted = false
  /** What workers have requested so far: methods of the table, and `send`. */
  readonly requests: string[] = []
  /** When a client was told the last thing that the run needs to end; null before. */
  completeAt: number | null = null
  private readonly options: Options
  private readonly stores
  private messages: Message[] = []
  private now = Date.now()
  private readonly sentTimers = newSentTimers()
  private storedSteps = new Map<string, number>()

  private constructor(options: Options) {
    this.options = options
    this.stores = openStores(options.table)
  }

  static async create(options: Options): Promise<WaitingRun> {
    const run = new WaitingRun(options)
    const lease = options.isSync ? { owner: system.newId(), expiresAt: run.now + TIMES.leaseMs } : null
    const given = { input: { question: '?' }, now: run.now, deadlineMs: DEADLINE_MS, lease }
    run.execution = executionOf(options.version, given)
    await run.stores.executions.create({ execution: run.execution })
    if (!options.isSync) await run.queue.send({ ...run.ids, tenantId: null })
    return run
  }

  private get ids() {
    return { executionId: this.execution.id, organizationId: this.execution.organizationId }
  }

  private get access(): Access {
    const { organizationId } = this.execution
    return { ...UNLIMITED, organizationId, tokenId: organizationId }
  }

  private readonly system = { newId: system.newId, now: () => ++this.now }

  private readonly queue: BatchQueue = {
    send: async ({ delayMs = 0, ...body }) => {
      this.messages.push({ body, visibleAt: this.now + delayMs, receives: 0 })
    },
    sendBatch: async (messages) => {
      for (const message of messages) await this.queue.send(message as DelayedExecution)
    },
  }

  /** A worker process of its own. */
  private newWorker() {
    const { options } = this
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
    const startedAt = this.system.now()
    const append: typeof stores.steps.append = async (params) => {
      const { step } = params
      const name = step.kind === 'MODEL' ? String(step.number) : step.name
      if ((this.storedSteps.get(name) ?? Number.POSITIVE_INFINITY) < startedAt)
        this.problems.push(`The step "${name}" was computed after it was stored.`)
      const isStored = await stores.steps.append(params)
      if (isStored && !this.storedSteps.has(name)) this.storedSteps.set(name, this.system.now())
      return isStored
    }
    const queue = { ...this.queue, send: worker.wrap('send', this.queue.send) }
    const steps = { ...stores.steps, append }
    const engine: Engine = { ...stores, steps, queue, system: this.system, times: TIMES }
    return { worker, engine }
  }

  /** The worker of the request, as `submitSync` has it. */
  private async runInline(): Promise<void> {
    const { worker, engine } = this.newWorker()
    const { lease } = this.execution
    if (!lease) throw new Error('The run is not synchronous.')
    const result = await attempt(engine, leased(this.execution, lease.owner))
    if (worker.isDead || result.kind !== 'released') return
    await engine.queue.send({ ...this.ids, tenantId: null, delayMs: result.delayMs }).catch(() => undefined)
  }

  start(): Promise<void> {
    return this.options.isSync ? this.runInline() : this.deliver(0)
  }

  get visible(): Message[] {
    return this.messages.filter(({ visibleAt }) => visibleAt <= this.now)
  }

  /** Delivers a message. `isDuplicate`: it stays visible, as SQS may deliver it again. */
  async deliver(index: number, isDuplicate = false): Promise<void> {
    const { visible } = this
    const message = visible[index % Math.max(visible.length, 1)]
    if (!message) return
    message.receives += 1
    if (message.receives > MAX_ATTEMPTS) {
      await this.deadLetter()
      return this.remove(message)
    }
    if (!isDuplicate) message.visibleAt = this.now + TIMES.visibilityMs
    const { worker, engine } = this.newWorker()
    const result = await processMessage(engine, message.body.executionId, {
      message: {
        wakes: message.body.wakes ?? false,
        receiveCount: message.receives,
        changeVisibility: async (ms) => {
          message.visibleAt = this.now + ms
        },
      },
    })
    if (worker.isDead) return
    if (typeof result !== 'string') message.visibleAt = this.now + result.retryInMs
    else if (!isDuplicate) this.remove(message)
  }

  private remove(message: Message): void {
    this.messages = this.messages.filter((other) => other !== message)
  }

  pass(ms: number): void {
    this.now += ms
  }

  /** What the sweeper does every minute. */
  async sweep(): Promise<void> {
    const { queue, system, sentTimers: sent } = this
    const stores = openStores(this.indexTable)
    const params = { ...stores, queue, system, times: TIMES }
    await sweep(params)
    await sweepTimers({ ...params, ...NO_DELIVERIES, sent })
  }

  /** Most requests of a sweep are queries of partitions in which this run cannot be. */
  private get indexTable(): Table {
    const { options, execution } = this
    const own = [
      openShard(shardOf(execution.id, OPEN_SHARDS)),
      activeShard(execution.organizationId, shardOf(execution.id, STATUS_SHARDS)),
      timerShard(shardOf(execution.id, TIMER_SHARDS)),
      cleanupShard(shardOf(execution.id, CLEANUP_SHARDS)),
    ]
    return {
      ...options.table,
      query: async (query) => {
        const shard = query.ExpressionAttributeValues?.[':shard']
        return typeof shard !== 'string' || own.includes(shard)
          ? options.table.query(query)
          : { items: [], lastKey: null }
      },
    }
  }

  deadLetter() {
    const { stores, queue, system } = this
    const { id, organizationId } = this.execution
    return processDeadLetter({ ...stores, queue, system, id, organizationId })
  }

  async stored(): Promise<Execution | null> {
    return this.stores.executions.get(this.execution)
  }

  /** A client sends a signal. @param key an idempotency key */
  async signal(name: string, key?: string): Promise<void> {
    const { stores, queue, system, acknowledged } = this
    const data = key ?? system.newId()
    const sending = { ...this.ids, access: this.access, name, data, idempotencyKey: key }
    const sent = await unlessRefused(sendSignal({ ...stores, queue, system, times: TIMES }, sending))
    if (!sent) return
    if (!acknowledged.signals.some(({ id }) => id === sent.id))
      acknowledged.signals.push({ id: sent.id, name, data, at: this.now })
    this.noteCompleteness()
  }

  /** A client decides on the approval. */
  async decide(decision: 'approve' | 'reject'): Promise<void> {
    const { stores, queue, system, acknowledged } = this
    const approvalId = approvalIdOfWait(this.options.scenario.approval ?? '')
    const deciding = { ...this.ids, access: this.access, approvalId, decision, input: null, note: null }
    const decided = decideApproval({ ...stores, queue, system, times: TIMES }, deciding)
    if (!(await unlessRefused(decided))) return
    acknowledged.decisions.push(decision)
    this.noteCompleteness()
  }

  private noteCompleteness(): void {
    const { signals, approval } = this.options.scenario
    const { acknowledged } = this
    if (signals.length + (approval ? 1 : 0) === 0) return
    const relevant = acknowledged.signals.filter(({ name }) => signals.includes(name))
    const hasSignals = relevant.length >= signals.length
    if (hasSignals && (!approval || acknowledged.decisions.length > 0)) this.completeAt ??= this.now
  }

  async cancel(): Promise<void> {
    const { stores, system, execution } = this
    const ended = await endExecution({ ...stores, system }, { ...execution, error: CANCELLED })
    if (ended) this.acknowledged.cancelled = true
  }

  async delete(): Promise<void> {
    const result = await this.stores.executions.delete({ ...this.execution, now: this.now })
    if (result === 'deleted') this.isDeleted = true
  }

  /** Delivers and sweeps as the service does until the run has ended. Skips the time in which nothing can happen. */
  async settle(limitMs: number): Promise<boolean> {
    const until = this.now + limitMs
    for (;;) {
      await this.sweep()
      for (let round = 0; this.visible.length > 0 && round < MAX_ROUNDS; round++) await this.deliver(round)
      const summary = await this.stores.executions.getSummary(this.execution)
      if (!summary || isFinal(summary)) return true
      const sweptAt = summary.openUntil ?? until
      const times = [
        ...this.messages.map(({ visibleAt }) => visibleAt),
        sweptAt,
        sweptAt + 2 * TIMES.graceMs,
        summary.lease?.expiresAt ?? until,
      ]
      const next = Math.min(...times.filter((time) => time >= this.now).map((time) => time + 1))
      if (next < until) this.now = next
      else {
        this.now = Math.max(until, this.now)
        return false
      }
    }
  }

  /** Deletes the run, with the cleanups of the next week. Nobody delivers its events. Returns whatever is left. */
  async removeAll(): Promise<string[]> {
    await this.delete()
    const { executions } = openStores(this.indexTable)
    for (const ms of [...Array(4).fill(15 * MINUTE_MS), 7 * DAY_MS, 15 * MINUTE_MS]) {
      this.pass(ms)
      await setCounted(this.indexTable, this.now)
      await runCleanups({ executions, system: this.system })
    }
    return [...(await this.items()).keys()]
  }

  items() {
    return readItems(this.options.table, this.execution)
  }

  steps() {
    return this.stores.steps.read({ executionId: this.execution.id })
  }

  unread() {
    return this.stores.signals.list({ executionId: this.execution.id })
  }
}

/** What the service answers; null if it refuses that. */
const unlessRefused = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    return null
  })
