import { EventEmitter } from 'node:events'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientConfig, isRetryable } from '../aws-sdk.ts'
import { Unavailable } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import { MAX_QUEUE_DELAY_MS } from '../core/limits.ts'
import { type Environment, SQS_ENDPOINT } from '../environment.ts'
import { logger } from '../logger.ts'
import { countEnqueueFailure } from '../metrics.ts'

/** What messages are about. Everything else is in the records. */
export type Ids = { executionId: string; organizationId: string }
type Body = Pick<Ids, 'organizationId'> & Partial<Ids>

/** `group`: that of SQS fair queues, which keep the backlog of one group from delaying the others. */
export type OutgoingMessage = { body: Body; group: string; delayMs?: number | undefined }

type QueueName = 'runs' | 'deliveries'

const events = new EventEmitter()

/** Calls the listener after each message that this process sends to the queue. @returns how to stop that */
export function onSent(queue: QueueName, listener: () => void): () => void {
  events.on(queue, listener)
  return () => events.off(queue, listener)
}

export const emitSent = (queue: QueueName): boolean => events.emit(queue)

export const openSqs = (environment: Environment): SQSClient =>
  new SQSClient(clientConfig(environment[SQS_ENDPOINT]))

/** The delay is rounded up to seconds: a message that arrives early is in vain. */
export const toEntry = ({ body, group, delayMs = 0 }: OutgoingMessage) => ({
  MessageBody: JSON.stringify(body),
  MessageGroupId: group,
  DelaySeconds: Math.ceil(Math.min(delayMs, MAX_QUEUE_DELAY_MS) / 1000),
})

/** Logs and counts a message that SQS does not accept: most callers leave it to the sweeper. */
export function reportUnsent(
  body: Body,
  { name, message }: { name: string; message: string },
  environment: Environment,
): void {
  logger.error('message not sent', { ...body, cause: { name, message } })
  countEnqueueFailure(body, environment)
}

/** @throws Unavailable */
export async function sendMessage(
  client: SQSClient,
  {
    queue,
    QueueUrl,
    message,
    environment,
  }: { queue: QueueName; QueueUrl: string; message: OutgoingMessage; environment: Environment },
): Promise<void> {
  try {
    await client.send(new SendMessageCommand({ QueueUrl, ...toEntry(message) }))
    emitSent(queue)
  } catch (error) {
    reportUnsent(message.body, error as Error, environment)
    throw isRetryable(error) ? new Unavailable(error) : error
  }
}

/** The ids and the other members of a message. @throws an Error when the body is not a message of this kind */
export function parseMessage(body: string, kind: 'run' | 'delivery'): Ids & { members: JsonObject } {
  const members = parseMembers(body)
  const { executionId, organizationId } = members
  if (!isId(executionId) || !isId(organizationId))
    throw new Error(`Invalid ${kind} message: it must have an executionId and an organizationId.`)
  return { executionId, organizationId, members }
}

export function parseMembers(body: string): JsonObject {
  const message: unknown = JSON.parse(body)
  return isJsonObject(message) ? message : {}
}

export const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value)
