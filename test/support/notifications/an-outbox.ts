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
import { deliverEvents, retryDelivery } from '../../../lib/engine/notifications/deliver.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import type { DeliveryEngine } from '../../../lib/engine/notifications/open-delivery-engine.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { type OutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'
import { sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { aBatch } from '../batches/a-batch.ts'
import { anExecution } from '../engine/executions.ts'
import { aWebhook } from './a-webhook.ts'

export const OK: DeliveryResult = { ok: true, responseStatus: 200, error: null, isGone: false }
export const BROKEN: DeliveryResult = {
  ok: false,
  responseStatus: 500,
  error: 'The receiver answered 500.',
  isGone: false,
}
export const SILENT: DeliveryResult = {
  ok: false,
  responseStatus: null,
  error: 'No answer within 20 seconds.',
  isGone: false,
}

type Message = DeliveryMessage & { visibleAt: number }
type Sent = { destinationId: string; eventId: string; type: EventType; data: Record<string, unknown> }

type Wrap = <A extends unknown[]>(send: (...args: A) => Promise<void>) => (...args: A) => Promise<void>

/**
 * An organization with webhooks, the outbox, the delivery function, its queue, the sweeper, and a clock.
 * @param options.wrap how messages are sent
 */
export function anOutbox(
  table: Table,
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
  const outbox = withOutbox({ ...stores, webhooks: webhookStore }, { queue, system: clock, destinations })
  /** The stores of another process. */
  const on = (other: Table) =>
    withOutbox({ ...openStores(other), webhooks: webhookStore }, { queue, system: clock, destinations })
  const send = async (destination: { id: string }, event: SubjectEvent, data: string) => {
    const result = await (answers.get(destination.id) ?? (() => OK))()
    const { type } = event
    sent.push({ destinationId: destination.id, eventId: eventIdOf(event), type, data: JSON.parse(data) })
    return result
  }
  const traced: string[] = []
  const engine: DeliveryEngine = {
    ...outbox,
    webhooks: webhookStore,
    destinations,
    breaker: circuitBreaker(clock.now, leaseTimes()),
    queue,
    system: clock,
    times: leaseTimes(),
    send,
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
  const times = leaseTimes()

  return {
    organizationId,
    stores: outbox,
    on,
    engine,
    sent,
    /** The executions whose traces were sent. */
    traced,
    answers,
    webhooks,
    now: () => now,
    clock,
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

    addWebhook(overrides: Partial<Webhook> = {}): Webhook {
      const createdAt = new Date(now).toISOString()
      const webhook = aWebhook({ organizationId, createdAt, ...overrides })
      webhooks.set(webhook.id, webhook)
      return webhook
    },

    /** An execution that a worker runs. */
    async start(overrides: Partial<Parameters<typeof anExecution>[0]> = {}) {
      const lease = { owner: system.newId(), expiresAt: now + times.leaseMs }
      const execution = anExecution({ organizationId, now, lease, deadlineMs: 86_400_000, ...overrides })
      await outbox.executions.create({ execution })
      return { ...execution, lease }
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

    finish(execution: Execution, outcome: Partial<Outcome> = {}) {
      const finishedAt = new Date(clock.now()).toISOString()
      return outbox.executions.finish({
        execution: execution as never,
        outcome: {
          status: 'SUCCESS',
          output: { ok: true },
          steps: 0,
          usage: execution.usage,
          model: null,
          ...outcome,
        } as Outcome,
        finishedAt,
      })
    },

    async suspend(
      execution: Execution & { lease: { owner: string } },
      waits: Partial<Wait>[],
      ms = 3_600_000,
    ) {
      const at = clock.now()
      const since = new Date(at).toISOString()
      const until = at + ms
      const suspension = {
        at,
        until,
        waits: waits.map((wait) => ({ name: 'w', since, until: null, ...wait }) as Wait),
      }
      const { owner } = execution.lease
      return outbox.executions.suspend({
        execution,
        owner,
        suspension,
        openUntil: until,
        deadlineAt: until + 86_400_000,
      })
    },

    async wake(id: string) {
      const execution = await stores.executions.getSuspended({ id })
      const lease = { owner: system.newId(), expiresAt: now + times.leaseMs }
      if (!execution) throw new Error('The execution is not suspended.')
      return outbox.executions.wake({ execution, lease, openUntil: now + times.graceMs, now: clock.now() })
    },

    cancel: (id: string, error: ExecutionError) =>
      endExecution({ ...outbox, system: clock }, { organizationId, id, error }),

    /** Processes the messages that are visible, as the delivery function does. */
    async deliver(): Promise<number> {
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
    },

    /** What the sweeper does every minute. Returns the age of the oldest entry of the outbox. */
    async sweep(): Promise<number> {
      const params = { ...outbox, system: clock, times, deliveryQueue: queue }
      await sweepTimers({ ...params, queue: runQueue, sent: new LRUCache({ max: 100 }) })
      return sweepOutbox({ ...params, queue, memory })
    },

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
