import { hash } from 'node:crypto'
import { ChangeMessageVisibilityCommand, DeleteMessageCommand } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { orUnavailable } from '../aws-sdk.ts'
import type { BatchQueue, FeedMessage, FeedQueue, FiringMessage, QueueMessage } from '../core/ports/queues.ts'
import { type Environment, MODEL_QUEUE_URL, QUEUE_URL, requireEnv } from '../environment.ts'
import {
  type Ids,
  isId,
  type OutgoingMessage,
  openSender,
  openSqs,
  parseMembers,
  parseMessage,
} from './send-message.ts'

/** Told apart by their ids. */
export type RunMessage =
  | (Ids & { wakes?: true; isLine?: true; isSuspect?: true })
  | FeedMessage
  | FiringMessage

/**
 * The queues of executions that wait for the runner: of those that run alone, and of those that share a worker and are
 * received in batches. A message that SQS does not accept is logged and counted.
 */
export function openRunQueue(environment: Environment = process.env) {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const modelQueueUrl = environment[MODEL_QUEUE_URL] || queueUrl
  const client = openSqs(environment)
  const sendAlone = openSender('runs', queueUrl, environment)
  const sendShared = modelQueueUrl === queueUrl ? sendAlone : openSender('runs', modelQueueUrl, environment)

  const send: BatchQueue['send'] = (execution) =>
    (execution.sharesWorker ? sendShared : sendAlone)(toMessage(execution))

  const sendBatch: BatchQueue['sendBatch'] = async (batch) => {
    const results = await Promise.allSettled(batch.map((message) => sendAlone(toMessage(message))))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  const feed: FeedQueue['feed'] = (message) => sendAlone(toMessage(message))
  const fire: FeedQueue['fire'] = (message) => sendAlone(toMessage(message))

  const isShared = ({ eventSourceARN }: Pick<SQSRecord, 'eventSourceARN'>) =>
    modelQueueUrl.endsWith(`/${nameOf(eventSourceARN)}`)

  return {
    send,
    sendBatch,
    feed,
    fire,

    /** Sends the message of a record again, as if it had never been received. @throws Unavailable */
    async sendAgain(record: SQSRecord, delayMs: number): Promise<void> {
      const message = parseRunMessage(record.body)
      const group = record.attributes.MessageGroupId ?? runGroupOf(message)
      await (isShared(record) ? sendShared : sendAlone)({ body: message, group, delayMs })
    },

    /** The message of a record, in the queue that it was received from. */
    received(record: Received) {
      const ReceiptHandle = record.receiptHandle
      const QueueUrl = isShared(record) ? modelQueueUrl : queueUrl
      return {
        /** Sets the time until the message becomes visible again, rounded up to seconds; at most 12 hours. */
        async changeVisibility(ms: number): Promise<void> {
          const VisibilityTimeout = Math.ceil(ms / 1000)
          const command = new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout })
          await orUnavailable(client.send(command))
        },

        /** A message that is not deleted is redelivered, and its execution found to be final. @throws Unavailable */
        async delete(): Promise<void> {
          await orUnavailable(client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })))
        },
      }
    },
  }
}

type Received = Pick<SQSRecord, 'receiptHandle' | 'eventSourceARN'>

type Delayed = QueueMessage & { delayMs?: number }

function toMessage({ delayMs, ...message }: Delayed): OutgoingMessage {
  if (!('executionId' in message)) return { body: message, group: runGroupOf(message), delayMs }
  const { executionId, organizationId, tenantId, wakes, isLine, isSuspect } = message
  const body: RunMessage = {
    executionId,
    organizationId,
    ...(wakes && { wakes }),
    ...(isLine && { isLine }),
    ...(isSuspect && { isSuspect }),
  }
  const group = isLine ? runGroupOf(body) : messageGroupId(organizationId, tenantId)
  return { body, group, delayMs }
}

/**
 * The group of a message in its organization. Lines of batches have one of their own, so that they do not delay other
 * runs; the messages about whole batches and schedules do not wait behind lines.
 */
export function runGroupOf(message: RunMessage): string {
  const { organizationId } = message
  if ('batchId' in message) return `${organizationId}.feed`
  if ('schedule' in message) return `${organizationId}${FIRINGS}`
  return message.isLine ? `${organizationId}.batch` : organizationId
}

/** Firings take milliseconds, and their time has come: on one machine, they do not wait for runs. */
export const isFiringGroup = (group: string): boolean => group.endsWith(FIRINGS)
const FIRINGS = '.schedules'

/** Of a queue, which is the last part of its URL, too. */
const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1)

/** @throws an Error when the body is not a run message */
export function parseRunMessage(body: string): RunMessage {
  const { organizationId, batchId, lane, line, agentId, schedule, at } = parseMembers(body)
  if (
    isId(organizationId) &&
    isId(batchId) &&
    [lane, line, at].every((each) => each === undefined || isCount(each))
  )
    return {
      batchId,
      organizationId,
      ...(lane !== undefined && { lane: Number(lane) }),
      ...(line !== undefined && { line: Number(line) }),
      ...(at !== undefined && { at: Number(at) }),
    }
  if (isId(organizationId) && isId(agentId) && typeof schedule === 'string' && isCount(at))
    return { organizationId, agentId, schedule, at }
  const { members, ...ids } = parseMessage(body, 'run')
  const { wakes, isLine, isSuspect } = members
  return {
    ...ids,
    ...(wakes === true && { wakes }),
    ...(isLine === true && { isLine }),
    ...(isSuspect === true && { isSuspect }),
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** So that an organization with many tenants is not many neighbors to the others. */
const MAX_GROUPS = 16

/**
 * With message groups, SQS fair queues keep the backlog of one from delaying the others. Clients choose the tenant: its
 * hash selects one of few groups of the organization.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
 */
function messageGroupId(organizationId: string, tenantId: string | null): string {
  const [byte = 0] = hash('sha256', tenantId ?? '', 'buffer')
  return `${organizationId}.${byte % MAX_GROUPS}`
}
