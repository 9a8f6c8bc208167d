import {
  type Delivery,
  type DeliveryResult,
  parseEventId,
  REMOTE_AGENT,
  SCORES,
  type SubjectEvent,
  TRACES,
} from '../../core/notification.ts'
import type { DeliveryId } from '../../core/ports/notifications.ts'
import type { DeliveryMessage } from '../../core/ports/queues.ts'
import { hasOwnMessage } from '../../core/wait.ts'
import { timerOf } from '../waiting/suspend.ts'
import { EARLY_MS } from '../waiting/wake.ts'
import { findRemote, needsExecution, receiverOf, type Target, targetOf } from './delivery-target.ts'
import type { Destination } from './destinations.ts'
import type { DeliveryEngine } from './open-delivery-engine.ts'
import { type EventSubject, readSubject } from './subjects.ts'
import { noteResult } from './webhook-health.ts'

/**
 * Before each further attempt, in first delays of a retry (5 s): 5 s, 1, 5 and 30 minutes, 2, 5, 10, 14, 20 and 20
 * hours. The last attempt is made within 72 hours. https://www.standardwebhooks.com/ recommends similar ones.
 */
const DELAYS = [1, 12, 60, 360, 1_440, 3_600, 7_200, 10_080, 14_400, 14_400]
const MAX_DELIVERY_ATTEMPTS = DELAYS.length + 1

/**
 * Sends the events of a subject that are not handled to all destinations at the same time, each at least once, and
 * stores what became of it. Whatever was not stored is sent again with the next message.
 * @throws Unavailable
 */
export async function deliverEvents(
  engine: DeliveryEngine,
  message: Pick<DeliveryMessage, 'subject' | 'organizationId'>,
): Promise<void> {
  const subject = await readSubject(engine, message)
  if (!subject) return
  const delivered = await engine.deliveries.listOf(message.subject)
  await Promise.all(
    subject.events.map(async (event) => {
      const isNew = ({ id }: Destination) =>
        !delivered.some(({ revision, destinationId }) => revision === event.revision && destinationId === id)
      const isSendable = ({ id }: Destination) => !needsExecution(id) || subject.execution !== undefined
      const wanted = await engine.destinations.of(subject.addressed, event.type)
      const known = wanted.filter((each) => isNew(each) && isSendable(each))
      const found = known.map((each) => (each.id === REMOTE_AGENT ? findRemote(engine, subject) : each))
      const destinations = (await Promise.all(found)).filter((each) => each !== null)
      if (destinations.length === 0) return
      const data = subject.dataOf(event)
      await Promise.all(
        destinations.map((destination) =>
          attemptDelivery(engine, { destination, event, data, ...subject, previous: null }),
        ),
      )
    }),
  )
  await subject.setHandled()
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
  const subject = await readSubject(engine, previous)
  const needs = needsExecution(previous.destinationId) || previous.type === 'score.low'
  if (!subject || (needs && !subject.execution)) {
    await engine.deliveries.delete(previous)
    return null
  }
  const destination = await targetOf(engine, subject, previous.destinationId)
  const data = subject.dataOf(previous)
  return attemptDelivery(engine, { destination, event: previous, data, ...subject, previous, isRequested })
}

type Attempt = Pick<EventSubject, 'execution'> & {
  destination: Target
  event: SubjectEvent
  data: string
  previous: Delivery | null
  isRequested?: boolean
}

/** Sends an event and stores the result. The stored delivery: that of another worker if both have sent it. */
async function attemptDelivery(
  engine: DeliveryEngine,
  { destination, event, data, execution, previous, isRequested = false }: Attempt,
): Promise<Delivery> {
  const { system, deliveries, breaker, times } = engine
  const before = previous?.attempts ?? 0
  const isLast = before + 1 >= MAX_DELIVERY_ATTEMPTS
  const { problem } = destination
  const result =
    problem !== undefined
      ? unsent(problem)
      : await breaker.run(receiverOf(destination, event), { isForced: isLast || isRequested }, () =>
          execution && destination.id === TRACES
            ? engine.sendTrace(execution)
            : execution && destination.id === SCORES && engine.score
              ? engine.score(execution)
              : engine.send(destination, event, data),
        )
  const now = system.now()
  if (destination.webhook) await noteResult(engine, destination.webhook, result)
  if (isRequested && previous && !result.ok) return noteRedelivery(engine, previous, result)
  const isOver = result.ok || result.isGone || isLast || problem !== undefined
  const delayMs = isOver ? null : (DELAYS[before] ?? 0) * times.backoffMs * (0.8 + Math.random() * 0.2)
  const { subject, organizationId, revision, type, occurredAt, waits = [] } = event
  const delivery: Delivery = {
    ...{ subject, organizationId, revision, type, occurredAt },
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
  if (destination.id === TRACES && delivery.status === 'FAILED') {
    // On demand: other deliveries need no metrics.
    const { countLostTrace } = await import('../../metrics.ts')
    countLostTrace({ executionId: subject.id, organizationId })
  }
  if (delayMs !== null && next && hasOwnMessage(next)) {
    const { destinationId } = delivery
    // The timer repeats one that is lost.
    await engine.queue
      .send({ subject, organizationId, revision, destinationId, delayMs })
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

const unsent = (error: string): DeliveryResult => ({ ok: false, responseStatus: null, error, isGone: false })
