import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import { isSubjectKind, type Subject } from '../core/notification.ts'
import type { DeliveryMessage, DeliveryQueue } from '../core/ports/queues.ts'
import { DELIVERY_QUEUE_URL, type Environment, requireEnv } from '../environment.ts'
import { isId, onSent, openSender, parseMembers } from './send-message.ts'

/** Calls the listener after each message that this process sends: the local service starts its deliveries then. */
export const onDeliveryEnqueued = (listener: () => void): (() => void) => onSent('deliveries', listener)

/** The queue of events on their way to destinations. A message that it does not accept is logged and counted. */
export function openDeliveryQueue(environment: Environment = process.env): DeliveryQueue {
  const send = openSender('deliveries', requireEnv(DELIVERY_QUEUE_URL, environment), environment)
  return {
    send: ({ delayMs, ...delivery }) =>
      send({ body: toBody(delivery), group: deliveryGroupOf(delivery), delayMs }),
  }
}

/** Of SQS fair queues: the repeated attempts for one destination delay nothing else. */
export const deliveryGroupOf = ({ organizationId, destinationId }: DeliveryMessage): string =>
  destinationId === undefined ? organizationId : `${organizationId}.${destinationId}`

/** The previous release knows only executions. */
const toBody = ({ subject, ...others }: DeliveryMessage) =>
  subject.kind === 'execution' ? { executionId: subject.id, ...others } : { subject, ...others }

/** @throws an Error when the body is not a delivery message */
export function parseDeliveryMessage(body: string): DeliveryMessage {
  const members = parseMembers(body)
  const { organizationId, destinationId, revision } = members
  const subject = parseSubject(members)
  if (!subject || !isId(organizationId))
    throw new Error('Invalid delivery message: it must have a subject and an organizationId.')
  if (destinationId === undefined && revision === undefined) return { subject, organizationId }
  if (typeof destinationId === 'string' && destinationId !== '' && Number.isSafeInteger(revision))
    return { subject, organizationId, destinationId, revision: Number(revision) }
  throw new Error('Invalid delivery message: it must have both a destinationId and a revision, or neither.')
}

function parseSubject({ executionId, subject }: JsonObject): Subject | null {
  if (executionId !== undefined) return isId(executionId) ? { kind: 'execution', id: executionId } : null
  const { kind, id } = isJsonObject(subject) ? subject : {}
  return isSubjectKind(kind) && isId(id) ? { kind, id } : null
}
