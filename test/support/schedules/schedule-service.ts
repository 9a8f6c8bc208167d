import { Unavailable } from '../../../lib/core/errors.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { TooManyRequests } from '../../../lib/core/limit-errors.ts'
import type { BatchQueue, FeedQueue, FiringMessage } from '../../../lib/core/ports/queues.ts'
import type { Schedule } from '../../../lib/core/schedule.ts'
import { nextTimes } from '../../../lib/cron-times.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { fireSchedule, type ScheduleEngine } from '../../../lib/engine/schedules/fire.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { system } from '../../../lib/system.ts'
import { NO_DELIVERIES } from '../engine/engine-on.ts'
import { aModelAgent } from '../engine/model-agent.ts'
import { memoryTable } from '../tables/memory-table.ts'
import type { FaultyWorker } from '../waiting/faulty-worker.ts'
import { aSchedule } from './a-schedule.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const NOON = Date.parse('2040-11-25T12:00:00.000Z')

const STEP = 5 * SECOND
/** As the queue has them. */
const MAX_RECEIVES = 5
const RETRY_MS = 5 * SECOND

type Message = FiringMessage & { visibleAt: number; receives: number }

/** Schedules on a clock that only the test moves, with a queue and a sweeper. No run that starts is processed. */
export class ScheduleService {
  /** A minute before noon. */
  now = NOON - MINUTE
  messages: Message[] = []
  /** Of executions that were enqueued. */
  readonly runs: string[] = []
  isFull = false
  isQueueDown = false
  readonly stores: ReturnType<typeof openStores>
  private sent = newSentTimers()
  readonly system = { newId: system.newId, now: () => this.now }

  readonly table: Table

  constructor(table: Table = memoryTable()) {
    this.table = table
    this.stores = openStores(table)
  }

  /** Another one on the same table, with a queue of its own. */
  another = () => new ScheduleService(this.table)

  /** What its processes send until one dies: then another one follows. */
  worker: FaultyWorker | null = null

  private get wrapped(): { table: Table; queue: ScheduleService['queue'] } {
    const { table, queue, worker } = this
    if (!worker) return { table, queue }
    const [send, fire] = [worker.wrap('send', queue.send), worker.wrap('fire', queue.fire)]
    const sendBatch = worker.wrap('sendBatch', queue.sendBatch)
    return { table: worker.tableOf(table), queue: { send, fire, sendBatch } }
  }

  readonly queue: BatchQueue & Pick<FeedQueue, 'fire'> = {
    send: async ({ executionId }) => {
      this.checkQueue()
      this.runs.push(executionId)
    },
    fire: async ({ delayMs = 0, ...message }) => {
      this.checkQueue()
      // SQS delays by whole seconds.
      const visibleAt = this.now + Math.ceil(delayMs / SECOND) * SECOND
      this.messages.push({ ...message, visibleAt, receives: 0 })
    },
    sendBatch: async (messages) => {
      for (const message of messages) if ('schedule' in message) await this.queue.fire(message)
    },
  }

  private checkQueue(): void {
    if (this.isQueueDown) throw new Unavailable(new Error('The queue is down.'))
  }

  /** What its processes work with. */
  private parts() {
    const { table, queue } = this.wrapped
    return { ...openStores(table), queue, system: this.system, times: leaseTimes() }
  }

  engine(): ScheduleEngine {
    return {
      ...this.parts(),
      admit: async (_, record) => {
        if (this.isFull) throw new TooManyRequests(1)
        return record()
      },
    }
  }

  /** A schedule of a new agent that answers questions, due for the first time after now. */
  async create(
    overrides: Partial<Schedule> = {},
    version?: Parameters<typeof aModelAgent>[0],
  ): Promise<Schedule> {
    const { organizationId, agentId } = overrides.agentId
      ? { ...aSchedule(), ...overrides }
      : await aModelAgent(version, { table: this.table })
    const given = aSchedule({ organizationId, agentId, input: { question: 'Why?' }, ...overrides })
    const [next = 0] = nextTimes(given.cron, given.timezone, this.now)
    const times = { nextRunAt: new Date(next).toISOString(), openUntil: next }
    const stored = await this.stores.schedules.put({ schedule: { ...given, ...times }, replaces: null })
    if (typeof stored === 'string') throw new Error(stored)
    return stored
  }

  async read(schedule: Schedule): Promise<Schedule> {
    const stored = await this.stores.schedules.get(schedule)
    if (!stored) throw new Error('The schedule does not exist.')
    return stored
  }

  /** Its firings as `<time> <status>`, newest first. */
  async firings(schedule: Schedule): Promise<string[]> {
    const { firings } = await this.read(schedule)
    return firings.map(({ scheduledFor, status, code }) =>
      [scheduledFor.slice(11, 16), code ?? status].join(' '),
    )
  }

  /** All of its executions, by the time for which they were started. */
  async executions({ organizationId, agentId }: Schedule) {
    const filter = { organizationId, agentId, status: null, tenantId: null }
    const page = await this.stores.executions.list({ ...filter, limit: 100, after: null })
    return page.items.sort((a, b) => ((a.schedule?.at ?? '') < (b.schedule?.at ?? '') ? -1 : 1))
  }

  /** Processes the message of its timer. */
  async fire(schedule: Schedule, engine = this.engine()): Promise<void> {
    const { organizationId, agentId, name, openUntil } = await this.read(schedule)
    await fireSchedule(engine, { organizationId, agentId, schedule: name, at: openUntil ?? 0 })
  }

  async end({ organizationId }: Schedule, id: string): Promise<void> {
    const finishedAt = new Date(this.now).toISOString()
    await this.stores.executions.end({ organizationId, id, error: CANCELLED, finishedAt })
  }

  private async sweep(): Promise<void> {
    await sweepTimers({ ...this.parts(), ...NO_DELIVERIES, sent: this.sent })
  }

  /** Processes the messages that are visible, at the same time. A failed one comes again, unless its process died. */
  async deliver(): Promise<void> {
    const visible = this.messages.filter(({ visibleAt }) => visibleAt <= this.now)
    this.messages = this.messages.filter((message) => !visible.includes(message))
    const process = async ({ visibleAt: _, receives, ...message }: Message) => {
      const redeliver = () => {
        if (receives + 1 < MAX_RECEIVES && !this.worker?.isDead)
          this.messages.push({ ...message, visibleAt: this.now + RETRY_MS, receives: receives + 1 })
      }
      await fireSchedule(this.engine(), message).catch(redeliver)
    }
    await Promise.all(visible.map(process))
  }

  async tick(): Promise<void> {
    this.now += STEP
    if (this.now % MINUTE === 30 * SECOND) await this.sweep().catch(() => undefined)
    await this.deliver()
    if (this.worker?.isDead) this.worker = null
  }

  /** Moves the clock, with a sweep in each minute. */
  async run(ms: number): Promise<void> {
    for (const end = this.now + ms; this.now < end; ) await this.tick()
  }

  /** The processes end, and the clock moves. What was in the queue stays there. */
  stop(ms: number): void {
    this.now += ms
    this.sent = newSentTimers()
  }
}
