import { LRUCache } from 'lru-cache'
import { type Batch, NO_TOTALS } from '../../../lib/core/batch.ts'
import { CANCELLED, type Execution, isFinal, NO_USAGE } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import {
  type DeliveryResult,
  eventIdOf,
  type Subject,
  type SubjectEvent,
} from '../../../lib/core/notification.ts'
import type { BatchStore } from '../../../lib/core/ports/batches.ts'
import type { BatchQueue, DelayedExecution, DeliveryMessage } from '../../../lib/core/ports/queues.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import * as keys from '../../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { circuitBreaker } from '../../../lib/engine/notifications/circuit-breaker.ts'
import { deliverEvents, retryDelivery } from '../../../lib/engine/notifications/deliver.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import type { DeliveryEngine } from '../../../lib/engine/notifications/open-delivery-engine.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { type OutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'
import { suspend } from '../../../lib/engine/waiting/suspend.ts'
import { type SentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { aBatch } from '../batches/a-batch.ts'
import { anExecution } from '../engine/executions.ts'
import { setCounted } from '../lifecycle/tables.ts'
import { type Fault, FaultyWorker } from '../waiting/faulty-worker.ts'
import { aWebhook } from './a-webhook.ts'
import { BROKEN, OK } from './an-outbox.ts'

const MINUTE_MS = 60_000
const WAIT_MS = 30 * MINUTE_MS
const times = leaseTimes()
/** Longer than the recovery from any fault: five grace periods, and a repeated delivery. */
const SETTLING_MINUTES = 14

export const ENDINGS = ['ends', 'waits', 'waits, cancelled', 'cancelled', 'cache hit', 'batch ends'] as const
export type Ending = (typeof ENDINGS)[number]

/** One clock for all runs of a table: the position of the outbox never goes back. */
let now = Date.now()
const clock = { newId: system.newId, now: () => ++now }

type Message<B> = { body: B; visibleAt: number }

/** One run or batch with a webhook, whose processes fail at certain requests: workers, deliveries and the sweeper. */
export class FaultyOutbox {
  readonly requests: string[] = []
  readonly problems: string[] = []
  private readonly organizationId = system.newId()
  private readonly sent: string[] = []
  private execution!: Execution
  private batch: Batch | null = null
  private deliveries: Message<DeliveryMessage>[] = []
  private wakes: Message<unknown>[] = []
  private readonly sentTimers: SentTimers = new LRUCache({ max: 100 })
  private readonly memory: OutboxMemory = new LRUCache({ max: 100 })
  private answers: DeliveryResult[]
  private readonly table: Table
  private readonly faults: Fault[]

  /** @param answers the first ones of the receiver; the others are `OK` */
  constructor(table: Table, faults: Fault[], answers: DeliveryResult[]) {
    this.table = table
    this.faults = faults
    this.answers = [...answers]
  }

  private get subject(): Subject {
    return this.batch ? { kind: 'batch', id: this.batch.id } : { kind: 'execution', id: this.execution.id }
  }

  private open(table: Table) {
    const { id } = this.subject
    const own = [
      keys.outboxShard(keys.shardOf(id, keys.OUTBOX_SHARDS)),
      keys.timerShard(keys.shardOf(id, keys.TIMER_SHARDS)),
      keys.cleanupShard(keys.shardOf(id, keys.CLEANUP_SHARDS)),
    ]
    return openStores({
      ...table,
      query: async (query) => {
        const shard = query.ExpressionAttributeValues?.[':shard']
        return typeof shard !== 'string' || own.includes(shard)
          ? table.query(query)
          : { items: [], lastKey: null }
      },
    })
  }

  /** A process of its own, until its first error. Whether there was none. */
  private async run(
    act: (engine: DeliveryEngine & ReturnType<FaultyOutbox['open']>) => Promise<unknown>,
    { isSweeper = false } = {},
  ) {
    const worker = new FaultyWorker({
      next: (method) => this.requests.push(method) - 1,
      before: async () => undefined,
      faults: this.faults,
    })
    const stores = this.open(worker.tableOf(this.table))
    const queue = {
      send: worker.wrap('send', async ({ delayMs = 0, ...body }: DeliveryMessage & { delayMs?: number }) => {
        this.deliveries.push({ body, visibleAt: now + delayMs })
      }),
    }
    const post = worker.wrap('send', async (event: SubjectEvent) => {
      this.sent.push(eventIdOf(event))
      return this.answers.shift() ?? OK
    })
    const open = () => {
      const destinations = openDestinations(stores.webhooks, { environment: {} })
      return {
        ...withOutbox(stores, { queue, system: clock, destinations }),
        ...{ destinations, breaker: circuitBreaker(clock.now, times) },
        send: (_: unknown, event: SubjectEvent) =>
          post(event).catch(() => (worker.isDead ? never() : BROKEN)),
        toRecord: ({ id }: { id: string }) => ({ id }),
        toSummary: ({ id }: { id: string }) => ({ id }),
        toBatchRecord: ({ id }: { id: string }) => ({ id }),
      }
    }
    // The memory of what sends and delivers takes milliseconds to create.
    const engine = { ...stores, ...(isSweeper ? {} : open()), queue, system: clock, times }
    // A process that is dead answers nobody.
    let check: NodeJS.Timeout | undefined
    const dead = new Promise<never>((_, reject) => {
      check = setInterval(() => worker.isDead && reject(new Error('It died.')), 2)
    })
    return Promise.race([act(engine as never), dead])
      .then(
        () => true,
        () => false,
      )
      .finally(() => clearInterval(check))
  }

  private readonly runQueue: BatchQueue = {
    send: async ({ delayMs = 0 }) => {
      this.wakes.push({ body: null, visibleAt: now + delayMs })
    },
    sendBatch: async (messages) => {
      for (const message of messages) await this.runQueue.send(message as DelayedExecution)
    },
  }

  private newLease = () => ({ owner: system.newId(), expiresAt: now + times.leaseMs })

  private finish(engine: { executions: DeliveryEngine['executions'] }, execution: unknown) {
    const outcome = { status: 'SUCCESS', output: { ok: true }, steps: 0, usage: NO_USAGE, model: null }
    const finishedAt = new Date(clock.now()).toISOString()
    return (engine as never as ReturnType<typeof openStores>).executions.finish({
      execution: execution as never,
      outcome: outcome as never,
      finishedAt,
    })
  }

  private async stored() {
    return this.open(this.table).executions.getSummary(this.execution)
  }

  /** Another worker, as long as the run is not final. */
  private async finishAtLast() {
    for (let i = 0; i < 5; i++) {
      const stored = await this.stored()
      if (!stored || isFinal(stored) || stored.suspension) return
      now += 2 * times.leaseMs
      await this.run(async (engine) => {
        const claimed = await engine.executions.claim({
          id: stored.id,
          lease: this.newLease(),
          now: clock.now(),
        } as never)
        if (typeof claimed === 'object') await this.finish(engine, claimed)
      })
    }
  }

  async play(ending: Ending): Promise<string[]> {
    now += WAIT_MS
    const { organizationId } = this
    const lease = this.newLease()
    this.execution = anExecution({ organizationId, now, lease, deadlineMs: 86_400_000 })
    if (ending === 'batch ends') await this.createBatch()
    const plain = this.open(this.table)
    const createdAt = new Date(now).toISOString()
    await plain.webhooks.create({ webhook: aWebhook({ organizationId, createdAt }) })
    if (ending === 'cache hit') {
      const finishedAt = new Date(now).toISOString()
      const final = {
        ...this.execution,
        lease: null,
        openUntil: null,
        status: 'SUCCESS' as const,
        finishedAt,
      }
      this.execution = final as never
      await this.run((engine) =>
        (engine as never as typeof plain).executions.create({ execution: final as never }),
      )
    } else if (!this.batch) await plain.executions.create({ execution: this.execution })
    if (this.batch) await this.endBatch(this.batch)
    if (ending === 'ends') {
      await this.run((engine) => this.finish(engine, { ...this.execution, lease }))
      await this.finishAtLast()
    }
    if (ending === 'cancelled') await this.cancel()
    if (ending.startsWith('waits')) await this.wait(ending === 'waits, cancelled')
    await this.settle()
    await this.check()
    return this.problems
  }

  private async createBatch() {
    const { organizationId } = this
    const createdAt = new Date(now).toISOString()
    this.batch = await openStores(this.table).batches.create(aBatch({ organizationId, createdAt, lines: 1 }))
  }

  /** The feeder, until the batch has ended. */
  private async endBatch(batch: Batch) {
    for (let i = 0; i < 5 && !(await this.ended()); i++) {
      const endedAt = new Date(clock.now()).toISOString()
      await this.run(({ batches }) => (batches as BatchStore).end({ batch, totals: NO_TOTALS, endedAt }))
    }
  }

  /** When it has ended, and the id of the event that says so. */
  private async ended() {
    if (this.batch) {
      const { endedAt } = (await this.open(this.table).batches.get(this.batch)) ?? {}
      return endedAt ? { at: endedAt, eventId: eventIdOf({ subject: this.subject, revision: 1 }) } : null
    }
    const stored = await this.stored()
    if (!stored?.finishedAt) return null
    const eventId = eventIdOf({ subject: this.subject, revision: stored.attempts + 1 })
    return { at: stored.finishedAt, eventId }
  }

  private async cancel() {
    for (let i = 0; i < 5; i++) {
      const stored = await this.stored()
      if (!stored || isFinal(stored)) return
      await this.run((engine) => endExecution(engine as never, { ...this.execution, error: CANCELLED }))
    }
  }

  private async wait(isCancelled: boolean) {
    const since = new Date(now).toISOString()
    const until = new Date(now + WAIT_MS).toISOString()
    const waits: Wait[] = [{ kind: 'approval', name: 'ask', since, until, id: 'ask', step: 1 }]
    const isSuspended = await this.run(async (engine) => {
      const execution = { ...this.execution, lease: this.execution.lease }
      await suspend({ ...engine, queue: this.runQueue } as never, execution as never, waits, {
        progress: null,
      })
    })
    if (!(await this.stored())?.suspension) return this.finishAtLast()
    if (!isSuspended) now += 1
    if (isCancelled) return this.cancel()
    await this.settle(SETTLING_MINUTES)
    const stored = await this.stored()
    if (!stored?.suspension) return this.problems.push('It waits no longer.')
    if (stored.pendingEvents.length > 0) this.problems.push('Its event is still pending.')
    if (stored.openUntil !== stored.suspension.until)
      this.problems.push(`Its timer is wrong by ${Number(stored.openUntil) - stored.suspension.until} ms.`)
    if (!this.sent.includes(`evt_${stored.id}_${stored.attempts}`))
      this.problems.push('Its wait is not reported.')
    await this.settle(Math.ceil((stored.suspension.until - now) / MINUTE_MS) + 1)
    if ((await this.stored())?.suspension) await this.settle(5)
    if ((await this.stored())?.suspension) this.problems.push('It waits too long.')
    await this.finishAtLast()
  }

  private async settle(minutes = SETTLING_MINUTES) {
    for (let minute = 0; minute < minutes; minute++) {
      await this.deliver()
      await this.resume()
      await this.run(
        async (engine) => {
          const params = {
            ...engine,
            deliveryQueue: engine.queue,
            queue: this.runQueue,
            sent: this.sentTimers,
          }
          const timers = sweepTimers(params as never)
          timers.catch(() => undefined)
          await sweepOutbox({ ...engine, memory: this.memory } as never)
          await timers
        },
        { isSweeper: true },
      )
      await this.checkPosition()
      await this.deliver()
      await this.resume()
      now += MINUTE_MS
    }
  }

  private async deliver() {
    for (let round = 0; round < 5; round++) {
      const message = this.deliveries.find(({ visibleAt }) => visibleAt <= now)
      if (!message) return
      message.visibleAt = now + 2 * MINUTE_MS
      const { destinationId, revision, ...ids } = message.body
      const isDone = await this.run((engine) =>
        destinationId !== undefined && revision !== undefined
          ? retryDelivery(engine, { ...ids, destinationId, revision })
          : deliverEvents(engine, ids),
      )
      if (isDone) this.deliveries.splice(this.deliveries.indexOf(message), 1)
    }
  }

  private async resume() {
    const due = this.wakes.filter(({ visibleAt }) => visibleAt <= now)
    this.wakes = this.wakes.filter((message) => !due.includes(message))
    for (const message of due) {
      const isDone = await this.run(async (engine) => {
        const woken = await wake(
          { ...engine, queue: this.runQueue } as never,
          this.execution.id,
          this.newLease(),
        )
        if (typeof woken === 'object' && 'id' in woken) await this.finish(engine, woken)
      })
      if (!isDone) this.wakes.push({ ...message, visibleAt: now + MINUTE_MS })
    }
  }

  private async checkPosition() {
    const { deliveries } = this.open(this.table)
    const ended = await this.ended()
    if (!ended) return
    const handled = await deliveries.findHandled({ subjects: [this.subject] })
    if (!handled.has(this.subject.id) && (await deliveries.getPosition()) > Date.parse(ended.at))
      this.problems.push('The position has passed it.')
  }

  private async check() {
    const { deliveries } = this.open(this.table)
    const ended = await this.ended()
    if (ended) {
      if (!this.sent.includes(ended.eventId)) this.problems.push('Its end is not reported.')
      const all = await deliveries.listOf(this.subject)
      if (all.length !== new Set(this.sent).size) this.problems.push('A delivery is missing.')
      if (all.some(({ status }) => status !== 'DELIVERED'))
        this.problems.push(`Deliveries: ${JSON.stringify(all)}`)
      if (!(await deliveries.findHandled({ subjects: [this.subject] })).has(this.subject.id))
        this.problems.push('It is not handled.')
      if (this.deliveries.length > 0) this.problems.push('There are messages left.')
    } else if (this.batch || (await this.stored())) this.problems.push('It has not ended.')
    await this.delete()
    const { items } = await this.table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.handledKey(this.subject).pk },
      ConsistentRead: true,
    })
    if (items.length > 0) this.problems.push(`Left: ${items.map(({ sk }) => sk)}`)
  }

  private async delete() {
    const { batches, executions } = this.open(this.table)
    if (this.batch) {
      await batches.hide({ batch: this.batch, now })
      return batches.remove({ batch: this.batch })
    }
    await executions.delete({ ...this.execution, now })
    for (let i = 0; i < 4; i++) {
      now += 15 * MINUTE_MS
      await setCounted(this.table, now)
      await runCleanups({ executions, system: clock })
    }
  }
}

const never = () => new Promise<never>(() => undefined)
