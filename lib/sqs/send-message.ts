import { EventEmitter } from 'node:events'
import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import DataLoader from 'dataloader'
import { clientConfig, isRetryable } from '../aws-sdk.ts'
import { Unavailable } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import { MAX_QUEUE_BATCH, MAX_QUEUE_DELAY_MS } from '../core/limits.ts'
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

export const openSqs = (environment: Environment): SQSClient =>
  new SQSClient(clientConfig(environment[SQS_ENDPOINT]))

/** The delay is rounded up to seconds: a message that arrives early is in vain. */
const toEntry = ({ body, group, delayMs = 0 }: OutgoingMessage) => ({
  MessageBody: JSON.stringify(body),
  MessageGroupId: group,
  DelaySeconds: Math.ceil(Math.min(delayMs, MAX_QUEUE_DELAY_MS) / 1000),
})

/**
 * What sends messages to a queue: those of the same turn of the event loop in one request, which costs as much as one
 * message. A message that SQS does not accept is logged and counted: most callers leave it to the sweeper.
 */
export function openSender(queue: QueueName, QueueUrl: string, environment: Environment) {
  const client = openSqs(environment)

  const sendOne = async (message: OutgoingMessage): Promise<(Rejection | null)[]> => {
    await client.send(new SendMessageCommand({ QueueUrl, ...toEntry(message) }))
    return [null]
  }

  const sendSeveral = async (messages: readonly OutgoingMessage[]): Promise<(Rejection | null)[]> => {
    const Entries = messages.map((message, index) => ({ Id: String(index), ...toEntry(message) }))
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
    const failed = new Map(Failed.map(({ Id, Code, Message }) => [Id, { Code, Message }]))
    return Entries.map(({ Id }) => failed.get(Id) ?? null)
  }

  const load = async (messages: readonly OutgoingMessage[]): Promise<(null | Error)[]> => {
    const [first] = messages as [OutgoingMessage]
    const report = (error: { name: string; message: string }, { body }: OutgoingMessage) => {
      logger.error('message not sent', { ...body, cause: { name: error.name, message: error.message } })
      countEnqueueFailure(body, environment)
    }
    try {
      const rejections = await (messages.length === 1 ? sendOne(first) : sendSeveral(messages))
      if (rejections.includes(null)) events.emit(queue)
      return messages.map((message, index) => {
        const rejection = rejections[index]
        if (!rejection) return null
        const { Code: name = 'Unknown', Message = '' } = rejection
        report({ name, message: Message }, message)
        return new Unavailable(new Error(`${name}: ${Message}`))
      })
    } catch (error) {
      for (const message of messages) report(error as Error, message)
      return messages.map(() => (isRetryable(error) ? new Unavailable(error) : (error as Error)))
    }
  }

  const loader = new DataLoader<OutgoingMessage, null>(load, {
    cache: false,
    maxBatchSize: MAX_QUEUE_BATCH,
    batchScheduleFn: (send) => setImmediate(send),
  })
  /** @throws Unavailable */
  return async (message: OutgoingMessage): Promise<void> => {
    await loader.load(message)
  }
}

type Rejection = Pick<BatchResultErrorEntry, 'Code' | 'Message'>

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
