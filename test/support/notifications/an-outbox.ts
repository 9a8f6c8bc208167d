import { LRUCache } from 'lru-cache'
import { toBatchRecord } from '../../../lib/contract/records/batch.ts'
import { type Batch, NO_TOTALS } from '../../../lib/core/batch.ts'
import type { Execution, Outcome } from '../../../lib/core/execution.ts'
import type { ExecutionError } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import {
  type DeliveryResult,
  type EventType,
  eventIdOf,
  type SubjectEvent,
  TRACES,
  type Webhook,
} from '../../../lib/core/notification.ts'
import type { BatchQueue, DelayedExecution, DeliveryMessage } from '../../../lib/core/ports/queues.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { circuitBreaker } from '../../../lib/engine/notifications/circuit-breaker.ts'
import { deliverEvents, redeliver, retryDelivery } from '../../../lib/engine/notifications/deliver.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import type { DeliveryEngine } from '../../../lib/engine/notifications/open-delivery-engine.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { type OutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'
import { sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { aBatch } from '../batches/a-batch.ts'
import { anExecution } from '../engine/executions.ts'
import { memoryTable } from '../tables/memory-table.ts'
import { aWebhook } from './a-webhook.ts'

export const failure = (error: string, responseStatus: number | null = null): DeliveryResult => ({
  ok: false,
  responseStatus,
  error,
  isGone: false,
})
export const OK: DeliveryResult = { ok: true, responseStatus: 200, error: null, isGone: false }
export const BROKEN = failure('The receiver answered 500.', 500)
export const GONE = { ...failure('The receiver answered 410.', 410), isGone: true }
export const SILENT = failure('No answer within 20 seconds.')

type Message = DeliveryMessage & { visibleAt: number }
type Sent = { destinationId: string; eventId: string; type: EventType; data: Record<string, unknown> }

type Wrap = <A extends unknown[]>(send: (...args: A) => Promise<void>) => (...args: A) => Promise<void>

/**
 * An organization with webhooks, the outbox, the delivery function, its queue, the sweeper, and a clock.
 * @param options.wrap how messages are sent
 */
export function anOutbox(
  table = memoryTable(),
  {
    organizationId = system.newId(),
    startedAt = Date.now(),
    environment = {},
    wrap = ((send) => send) as Wrap,
  } = {},
) {
  const stores = openStores(table)
  const webhooks = new Map<string, Webhook>()
  let now = startedAt
  const clock = { ...system, now: () => ++now }
  let messages: Message[] = []
  let acceptsMessages = true
  const sent: Sent[] = []
  const answers = new Map<string, () => DeliveryResult | Promise<DeliveryResult>>()
  const queue = {
    send: wrap(async ({ delayMs = 0, ...message }: DeliveryMessage & { delayMs?: number }) => {
      if (!acceptsMessages) throw new Error('SQS does not answer.')
      messages.push({ ...message, visibleAt: now + delayMs })
    }),
  }
  let wakes: { executionId: string; visibleAt: number }[] = []
  const runQueue: BatchQueue = {
    send: async (message) => {
      const { executionId, delayMs = 0 } = message as DelayedExecution
      wakes.push({ executionId, visibleAt: now + delayMs })
    },
    sendBatch: async (sent) => {
      for (const message of sent) await runQueue.send(message as DelayedExecution)
    },
  }
  const webhookStore = {
    ...stores.webhooks,
    list: async () => [...webhooks.values()],
    get: async ({ id }: { id: string }) => webhooks.get(id) ?? null,
    update: async ({ id, changes }: { id: string; changes: Partial<Webhook> }) => {
      const webhook = webhooks.get(id)
      if (!webhook) return null
      webhooks.set(id, { ...webhook, ...changes })
      return webhooks.get(id) as Webhook
    },
  }
  const destinations = openDestinations(webhookStore, { environment, cachedMs: 1 })
  /** The stores of a process. */
  const on = (table: Table) =>
    withOutbox({ ...openStores(table), webhooks: webhookStore }, { queue, system: clock, destinations })
  const outbox = on(table)
  const send = async (destination: { id: string }, event: SubjectEvent, data: string) => {
    const result = await (answers.get(destination.id) ?? (() => OK))()
    const { type } = event
    sent.push({ destinationId: destination.id, eventId: eventIdOf(event), type, data: JSON.parse(data) })
    return result
  }
  const traced: string[] = []
  const times = leaseTimes()
  const engine: DeliveryEngine = {
    ...outbox,
    ...{ webhooks: webhookStore, destinations, queue, system: clock, times, send },
    breaker: circuitBreaker(clock.now, times),
    async sendTrace({ id }) {
      const result = await (answers.get(TRACES) ?? (() => OK))()
      traced.push(id)
      return result
    },
    toRecord: (execution) => ({ ...execution, waitingFor: execution.suspension?.waits ?? null }),
    toSummary: ({ id, status }) => ({ id, status }),
    toBatchRecord,
  }
  const memory: OutboxMemory = new LRUCache({ max: 1_000 })

  /** An execution that a worker runs. */
  async function start(overrides: Partial<Parameters<typeof anExecution>[0]> = {}) {
    const lease = { owner: system.newId(), expiresAt: now + times.leaseMs }
    const execution = anExecution({ organizationId, now, lease, deadlineMs: 86_400_000, ...overrides })
    await outbox.executions.create({ execution })
    return { ...execution, lease }
  }

  function finish(execution: Execution, outcome: Partial<Outcome> = {}) {
    const success = { status: 'SUCCESS', output: { ok: true }, steps: 0, usage: execution.usage, model: null }
    return outbox.executions.finish({
      execution: execution as never,
      outcome: { ...success, ...outcome } as Outcome,
      finishedAt: new Date(clock.now()).toISOString(),
    })
  }

  /** Processes the messages that are visible, as the delivery function does. */
  async function deliver(): Promise<number> {
    const due = messages.filter(({ visibleAt }) => visibleAt <= now)
    messages = messages.filter((message) => !due.includes(message))
    await Promise.all(
      due.map(({ visibleAt: _, destinationId, revision, ...message }) =>
        destinationId !== undefined && revision !== undefined
          ? retryDelivery(engine, { ...message, destinationId, revision })
          : deliverEvents(engine, message),
      ),
    )
    return due.length
  }

  /** What the sweeper does every minute. Returns the age of the oldest entry of the outbox. */
  async function sweep(): Promise<number> {
    const params = { ...outbox, system: clock, times, deliveryQueue: queue }
    await sweepTimers({ ...params, queue: runQueue, sent: new LRUCache({ max: 100 }) })
    return sweepOutbox({ ...params, queue, memory })
  }

  /** A run that has ended. */
  async function end(overrides: Parameters<typeof start>[0] = {}, outcome: Partial<Outcome> = {}) {
    const run = await start(overrides)
    await finish(run, outcome)
    return run
  }

  return {
    ...{ organizationId, stores: outbox, on, engine, sent, answers, webhooks, clock, table },
    ...{ start, finish, end, deliver, sweep },
    /** The executions whose traces were sent. */
    traced,
    now: () => now,
    pass: (ms: number) => {
      now += ms
    },
    messages: () => messages,
    dropMessages: () => {
      messages = []
    },
    setAccepting: (accepts: boolean) => {
      acceptsMessages = accepts
    },

    addWebhook(overrides: Partial<Webhook> = {}, answer = OK): Webhook {
      const createdAt = new Date(now).toISOString()
      const webhook = aWebhook({ organizationId, createdAt, ...overrides })
      webhooks.set(webhook.id, webhook)
      answers.set(webhook.id, () => answer)
      return webhook
    },

    /** A run whose end the delivery function has processed. */
    async tell(...given: Parameters<typeof end>) {
      const run = await end(...given)
      await deliver()
      return run
    },

    /** A client asks for an event again. */
    redeliver: (eventId: string, destinationId: string, others: { organizationId?: string } = {}) =>
      redeliver(engine, { organizationId, destinationId, eventId, ...others }),

    /** Timers, outbox and messages of a while, and what else happens meanwhile. */
    async live(ms: number, { stepMs = 600_000, also = async (): Promise<unknown> => undefined } = {}) {
      for (const end = now + ms; now < end; now += stepMs) {
        await sweep()
        await deliver()
        await also()
      }
    },

    /** A batch whose lines have all ended, although the feeder does not know yet. */
    async startBatch(overrides: Partial<Batch> = {}): Promise<Batch> {
      const createdAt = new Date(now).toISOString()
      const batch = await stores.batches.create(aBatch({ organizationId, createdAt, ...overrides, lines: 2 }))
      if (!batch) throw new Error('It exists.')
      return batch
    },

    endBatch: (batch: Batch) =>
      outbox.batches.end({
        batch,
        totals: { ...NO_TOTALS, succeeded: batch.lines },
        endedAt: new Date(clock.now()).toISOString(),
      }),

    async suspend(
      execution: Execution & { lease: { owner: string } },
      waits: Partial<Wait>[],
      ms = 3_600_000,
    ) {
      const at = clock.now()
      const wait = { name: 'w', since: new Date(at).toISOString(), until: null }
      const until = at + ms
      const suspension = { at, until, waits: waits.map((given) => ({ ...wait, ...given }) as Wait) }
      const { owner } = execution.lease
      const times = { openUntil: until, deadlineAt: until + 86_400_000 }
      return outbox.executions.suspend({ execution, owner, suspension, ...times })
    },

    async wake(id: string) {
      const execution = await stores.executions.getSuspended({ id })
      const lease = { owner: system.newId(), expiresAt: now + times.leaseMs }
      if (!execution) throw new Error('The execution is not suspended.')
      return outbox.executions.wake({ execution, lease, openUntil: now + times.graceMs, now: clock.now() })
    },

    cancel: (id: string, error: ExecutionError) =>
      endExecution({ ...outbox, system: clock }, { organizationId, id, error }),

    /** What a worker does with the messages of timers that are visible: runs go on whose time has come. */
    async resume(): Promise<void> {
      const due = wakes.filter(({ visibleAt }) => visibleAt <= now)
      wakes = wakes.filter((message) => !due.includes(message))
      const lease = { owner: system.newId(), expiresAt: now + times.leaseMs }
      const worker = { ...outbox, queue: runQueue, system: clock, times } as unknown as Engine
      for (const { executionId } of due) await wake(worker, executionId, lease)
    },

    timerOf: async (id: string) => (await stores.executions.getSuspended({ id }))?.openUntil,
    deliveriesOfBatch: (id: string) => stores.deliveries.listOf({ kind: 'batch', id }),
    deliveriesOf: (executionId: string) => stores.deliveries.listOf({ kind: 'execution', id: executionId }),
  }
}

/** An outbox with a webhook whose receiver answers this. */
export function outboxTo(answer = OK, overrides: Partial<Webhook> = {}) {
  const outbox = anOutbox()
  return { ...outbox, webhook: outbox.addWebhook(overrides, answer) }
}
