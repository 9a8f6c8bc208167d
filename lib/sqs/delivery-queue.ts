import type { DeliveryMessage, DeliveryQueue } from '../core/ports.ts'
import { DELIVERY_QUEUE_URL, type Environment, requireEnv } from '../environment.ts'
import { onSent, openSqs, parseMessage, sendMessage } from './send-message.ts'

/** Calls the listener after each message that this process sends: the local service starts its deliveries then. */
export const onDeliveryEnqueued = (listener: () => void): (() => void) => onSent('deliveries', listener)

/** The queue of events on their way to destinations. A message that it does not accept is logged and counted. */
export function openDeliveryQueue(environment: Environment = process.env): DeliveryQueue {
  const QueueUrl = requireEnv(DELIVERY_QUEUE_URL, environment)
  const client = openSqs(environment)
  return {
    send({ delayMs, ...body }) {
      const message = { body, group: deliveryGroupOf(body), delayMs }
      return sendMessage(client, { queue: 'deliveries', QueueUrl, message, environment })
    },
  }
}

/** Of SQS fair queues: the repeated attempts for one destination delay nothing else. */
export const deliveryGroupOf = ({ organizationId, destinationId }: DeliveryMessage): string =>
  destinationId === undefined ? organizationId : `${organizationId}.${destinationId}`

/** @throws an Error when the body is not a delivery message */
export function parseDeliveryMessage(body: string): DeliveryMessage {
  const { members, ...ids } = parseMessage(body, 'delivery')
  const { destinationId, revision } = members
  if (destinationId === undefined && revision === undefined) return ids
  if (typeof destinationId === 'string' && destinationId !== '' && Number.isSafeInteger(revision))
    return { ...ids, destinationId, revision: Number(revision) }
  throw new Error('Invalid delivery message: it must have both a destinationId and a revision, or neither.')
}
