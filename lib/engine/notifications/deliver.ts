import { Unavailable } from '../../core/errors.ts'
import {
  type Execution,
  type ExecutionSummary,
  isFinal,
  type SuspendedExecution,
} from '../../core/execution.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import {
  DEFAULT_WEBHOOK,
  type Delivery,
  type DeliveryResult,
  EVENT_BUS,
  type ExecutionEvent,
  parseEventId,
  type SentEvent,
  type Webhook,
} from '../../core/notification.ts'
import type {
  DeliveryId,
  DeliveryQueue,
  DeliveryStore,
  ExecutionStore,
  SignalStore,
  System,
  WebhookStore,
} from '../../core/ports.ts'
import type { StepStore } from '../../core/step.ts'
import { hasOwnMessage } from '../../core/wait.ts'
import { timerOf } from '../waiting/suspend.ts'
import { EARLY_MS, hasArrived } from '../waiting/wake.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { Destination, Destinations } from './destinations.ts'
import { endOf } from './outbox.ts'

export type DeliveryEngine = {
  executions: Pick<ExecutionStore, 'clearEvents' | 'getLimited' | 'getStatus' | 'getSummary'>
  signals: Pick<SignalStore, 'list'>
  steps: Pick<StepStore, 'hasResult' | 'read'>
  deliveries: Pick<DeliveryStore, 'delete' | 'get' | 'list' | 'listOfExecution' | 'put' | 'setHandled'>
  webhooks: Pick<WebhookStore, 'get' | 'update'>
  destinations: Destinations
  breaker: CircuitBreaker
  queue: DeliveryQueue
  system: System
  times: LeaseTimes
  /** Sends an event; never throws. `data`: JSON of the record. */
  send(destination: Destination, event: SentEvent, data: string): Promise<DeliveryResult>
  /** The record that clients see. */
  toRecord(execution: Execution): object
  /** The same without payloads, for an execution whose record is too large. */
  toSummary(execution: ExecutionSummary): object
}

/** Above this many bytes of JSON, a record is sent without its payloads. */
const MAX_DATA_BYTES = 256_000

const HOUR_MS = 3_600_000
/**
 * Before each further attempt, in first delays of a retry (5 s): 5 s, 1, 5 and 30 minutes, 2, 5, 10, 14, 20 and 20
 * hours. The last attempt is made within 72 hours. https://www.standardwebhooks.com/ recommends similar ones.
 */
const DELAYS = [1, 12, 60, 360, 1_440, 3_600, 7_200, 10_080, 14_400, 14_400]
const MAX_DELIVERY_ATTEMPTS = DELAYS.length + 1
/** After so long without a success, a webhook is disabled. */
const FAILING_MS = 72 * HOUR_MS
/** Deliveries among which one that succeeded is looked for. */
const MAX_CHECKED = 100

/**
 * Sends the events of an execution that are not handled to all destinations at the same time, each at least once, and
 * stores what became of it. Whatever was not stored is sent again with the next message.
 * @throws Unavailable
 */
export async function deliverEvents(
  engine: DeliveryEngine,
  { organizationId, executionId }: { organizationId: string; executionId: string },
): Promise<void> {
  const { deliveries } = engine
  const execution = await readExecution(engine, { organizationId, id: executionId })
  if (!execution) return
  const known = await deliveries.listOfExecution({ executionId })
  await Promise.all(
    eventsOf(execution).map(async (event) => {
      const isNew = ({ id }: Destination) =>
        !known.some(({ revision, destinationId }) => revision === event.revision && destinationId === id)
      const destinations = (await engine.destinations.of(execution, event.type)).filter(isNew)
      if (destinations.length === 0) return
      const data = dataOf(engine, execution, event)
      await Promise.all(
        destinations.map((destination) =>
          attemptDelivery(engine, { destination, event, data, previous: null }),
        ),
      )
    }),
  )
  if (isFinal(execution)) await deliveries.setHandled({ executionId })
  else if (execution.suspension && execution.pendingEvents.length > 0)
    await restoreTimer(engine, execution as SuspendedExecution)
}

/** Unless the execution has to be resumed: the message that does may be lost, and the timer is due soon. */
async function restoreTimer(engine: DeliveryEngine, execution: SuspendedExecution): Promise<void> {
  if (await hasArrived(engine, execution)) return
  const openUntil = timerOf(engine, execution.suspension)
  await engine.executions.clearEvents({ execution, openUntil })
}

/**
 * Another attempt of a pending delivery whose time has come.
 * @throws Unavailable
 */
export async function retryDelivery(
  engine: DeliveryEngine,
  { organizationId, ...id }: DeliveryId & { organizationId: string },
): Promise<void> {
  const previous = await engine.deliveries.get(id)
  if (previous?.status !== 'PENDING' || previous.organizationId !== organizationId) return
  const dueAt = Date.parse(previous.nextAttemptAt ?? '')
  if (dueAt - engine.system.now() > EARLY_MS) return
  await attemptAgain(engine, previous)
}

/**
 * One attempt of a delivery now, whatever became of it before. Null if it does not exist any more.
 * @throws Unavailable
 */
export async function redeliver(
  engine: DeliveryEngine,
  {
    organizationId,
    destinationId,
    eventId,
  }: { organizationId: string; destinationId: string; eventId: string },
): Promise<Delivery | null> {
  const id = parseEventId(eventId)
  const previous = id && (await engine.deliveries.get({ ...id, destinationId }))
  return previous?.organizationId === organizationId ? attemptAgain(engine, previous, true) : null
}

async function attemptAgain(
  engine: DeliveryEngine,
  previous: Delivery,
  isRequested = false,
): Promise<Delivery | null> {
  const { organizationId, executionId, destinationId } = previous
  const execution = await readExecution(engine, { organizationId, id: executionId })
  if (!execution) {
    await engine.deliveries.delete(previous)
    return null
  }
  const destination = await destinationOf(engine, execution, destinationId)
  const data = dataOf(engine, execution, previous)
  return attemptDelivery(engine, { destination, event: previous, data, previous, isRequested })
}

/**
 * Without payloads if these are too large to be sent, or cannot be read: the events of an execution do not depend on
 * them. Null if it is deleted.
 */
async function readExecution(
  { executions }: DeliveryEngine,
  key: { organizationId: string; id: string },
): Promise<Execution | ExecutionSummary | null> {
  const execution = await executions
    .getLimited({ ...key, maxBytes: MAX_DATA_BYTES })
    .catch((error: unknown) => {
      if (error instanceof Unavailable) throw error
      return null
    })
  return execution ?? executions.getSummary(key)
}

/** `problem`: why nothing can be sent. */
type Target = Destination & { problem?: string }

async function destinationOf(
  { webhooks }: DeliveryEngine,
  { organizationId, webhookUrl }: ExecutionSummary,
  id: string,
): Promise<Target> {
  if (id === EVENT_BUS) return { id, webhook: null, url: null }
  if (id === DEFAULT_WEBHOOK) return { id, webhook: null, url: webhookUrl }
  const webhook = await webhooks.get({ organizationId, id })
  if (webhook?.enabled) return { id, webhook, url: webhook.url }
  return { id, webhook: null, url: null, problem: `The webhook ${webhook ? 'is disabled' : 'was deleted'}.` }
}

/** Those that destinations may not have been told of: the waits that are pending, and the end. */
function eventsOf(execution: ExecutionSummary): ExecutionEvent[] {
  const { id: executionId, organizationId, pendingEvents, attempts, finishedAt } = execution
  const ids = { executionId, organizationId }
  const waiting = pendingEvents.map(({ revision, at, waits }): ExecutionEvent => {
    return { ...ids, revision, type: 'execution.waiting', occurredAt: new Date(at).toISOString(), waits }
  })
  if (!isFinal(execution) || !finishedAt) return waiting
  // An attempt waits at most once.
  return [...waiting, { ...ids, revision: attempts + 1, type: endOf(execution), occurredAt: finishedAt }]
}

/** JSON of the record, as it was at the time of the event. */
function dataOf(
  { toRecord, toSummary }: DeliveryEngine,
  execution: Execution | ExecutionSummary,
  { type, ...event }: ExecutionEvent,
) {
  const { occurredAt, waits = [] } = event
  const at = Date.parse(occurredAt)
  const suspension = { at, until: at, waits }
  const waiting = { status: 'IN_PROGRESS', output: null, error: null, finishedAt: null, suspension } as const
  const then = type === 'execution.waiting' ? { ...execution, ...waiting } : execution
  const json = 'input' in then && JSON.stringify(toRecord(then as Execution))
  if (json && Buffer.byteLength(json) <= MAX_DATA_BYTES) return json
  return JSON.stringify(toSummary(then))
}

type Attempt = {
  destination: Target
  event: ExecutionEvent
  data: string
  previous: Delivery | null
  isRequested?: boolean
}

/** Sends an event and stores the result. The stored delivery: that of another worker if both have sent it. */
async function attemptDelivery(
  engine: DeliveryEngine,
  { destination, event, data, previous, isRequested = false }: Attempt,
): Promise<Delivery> {
  const { system, deliveries, breaker, times } = engine
  const before = previous?.attempts ?? 0
  const isLast = before + 1 >= MAX_DELIVERY_ATTEMPTS
  const { problem } = destination
  const result =
    problem !== undefined
      ? unsent(problem)
      : await breaker.run(receiverOf(destination, event), { isForced: isLast || isRequested }, () =>
          engine.send(destination, event, data),
        )
  const now = system.now()
  if (destination.webhook) await noteResult(engine, destination.webhook, result)
  if (isRequested && previous && !result.ok) return noteRedelivery(engine, previous, result)
  const isOver = result.ok || result.isGone || isLast || problem !== undefined
  const delayMs = isOver ? null : (DELAYS[before] ?? 0) * times.backoffMs * (0.8 + Math.random() * 0.2)
  const { executionId, organizationId, revision, type, occurredAt, waits = [] } = event
  const delivery: Delivery = {
    ...{ executionId, organizationId, revision, type, occurredAt },
    ...(waits.length > 0 && { waits }),
    destinationId: destination.id,
    status: result.ok ? 'DELIVERED' : isOver ? 'FAILED' : 'PENDING',
    attempts: before + 1,
    createdAt: previous?.createdAt ?? new Date(now).toISOString(),
    attemptedAt: new Date(now).toISOString(),
    nextAttemptAt: delayMs === null ? null : new Date(now + delayMs).toISOString(),
    responseStatus: result.responseStatus,
    error: result.error,
  }
  const next = delayMs === null ? null : { at: now, until: now + delayMs }
  const dueAt = next && timerOf(engine, next)
  if (!(await deliveries.put({ delivery, attempts: before, dueAt })))
    return (await deliveries.get(delivery)) ?? delivery
  if (delayMs !== null && next && hasOwnMessage(next)) {
    const { destinationId } = delivery
    // The timer repeats one that is lost.
    await engine.queue
      .send({ executionId, organizationId, revision, destinationId, delayMs })
      .catch(() => undefined)
  }
  return delivery
}

/** A redelivery that fails takes no attempt from those that are due, and makes nothing of a delivery that is over. */
async function noteRedelivery(
  { deliveries, system, times }: DeliveryEngine,
  previous: Delivery,
  { responseStatus, error }: DeliveryResult,
): Promise<Delivery> {
  const { attempts, nextAttemptAt } = previous
  const attemptedAt = new Date(system.now()).toISOString()
  const delivery: Delivery = { ...previous, attemptedAt, responseStatus, error }
  const dueAt = nextAttemptAt === null ? null : Date.parse(nextAttemptAt) + 2 * times.graceMs
  if (await deliveries.put({ delivery, attempts, dueAt })) return delivery
  return (await deliveries.get(delivery)) ?? delivery
}

/** What answers or does not: URLs that are given with runs have nothing in common but their name. */
function receiverOf({ id, url }: Destination, { organizationId }: ExecutionEvent): string {
  return id === DEFAULT_WEBHOOK && url !== null ? `${organizationId} ${new URL(url).origin}` : id
}

const unsent = (error: string): DeliveryResult => ({ ok: false, responseStatus: null, error, isGone: false })

/**
 * Since when a webhook fails, and whether it has to be disabled: when its receiver answers 410, or when nothing has
 * been delivered for three days. Best effort: the next result is noted, too.
 */
async function noteResult(
  engine: DeliveryEngine,
  webhook: Webhook,
  { ok, isGone }: DeliveryResult,
): Promise<void> {
  const { webhooks, destinations, system } = engine
  const { organizationId, id, failingSince } = webhook
  const now = system.now()
  const update = async (changes: Parameters<WebhookStore['update']>[0]['changes']) => {
    await webhooks.update({ organizationId, id, changes })
    destinations.forget(organizationId)
  }
  try {
    if (ok) return failingSince === null ? undefined : await update({ failingSince: null })
    const failsFrom = new Date(now).toISOString()
    if (!isGone && failingSince === null) return await update({ failingSince: failsFrom })
    const isLong = (since: string | null) => since !== null && now - Date.parse(since) >= FAILING_MS
    if (!isGone && !isLong(failingSince)) return
    // It may have another URL since this process has read it, or another process has delivered something.
    const current = await webhooks.get({ organizationId, id })
    if (current?.url !== webhook.url) return
    if (isGone) return await update({ enabled: false, disabledReason: 'gone' })
    if (!isLong(current.failingSince)) return
    const isDelivered = await hasDelivered(engine, webhook, current.failingSince ?? '')
    await update(isDelivered ? { failingSince: failsFrom } : { enabled: false, disabledReason: 'failing' })
  } catch {
    // The delivery itself is stored.
  }
}

/** A process that does not know yet that a webhook fails does not note that it has delivered something. */
async function hasDelivered({ deliveries }: DeliveryEngine, { organizationId, id }: Webhook, since: string) {
  const page = { limit: MAX_CHECKED, after: null }
  const { items } = await deliveries.list({ organizationId, destinationId: id, ...page })
  return items.some(({ status, attemptedAt }) => status === 'DELIVERED' && attemptedAt >= since)
}

/** Sends an example to a webhook, which is not stored. */
export function sendTest(
  engine: Pick<DeliveryEngine, 'send' | 'system'>,
  webhook: Webhook,
): Promise<DeliveryResult> {
  const { system } = engine
  const event = {
    executionId: system.newId(),
    organizationId: webhook.organizationId,
    revision: 1,
    type: 'webhook.test' as const,
    occurredAt: new Date(system.now()).toISOString(),
  }
  const destination = { id: webhook.id, webhook, url: webhook.url }
  return engine.send(destination, event, JSON.stringify({ webhookId: webhook.id }))
}
