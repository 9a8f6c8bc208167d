import { hash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { clientConfig, isRetryable, orUnavailable } from '../aws-sdk.ts'
import { Unavailable } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { isJsonObject } from '../core/json/json.ts'
import type { BatchQueue, DelayedExecution } from '../core/ports.ts'
import { type Environment, MODEL_QUEUE_URL, QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../environment.ts'
import { logger } from '../logger.ts'
import { countEnqueueFailure } from '../metrics.ts'

/** The body of a message. Everything else is in the execution's record. */
export type RunMessage = { executionId: string; organizationId: string; wakes?: true }

const events = new EventEmitter()

/** Calls the listener after each message that this process sends: the local service starts its runner then. */
export function onRunEnqueued(listener: () => void): () => void {
  events.on('enqueued', listener)
  return () => events.off('enqueued', listener)
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const MAX_DELAY_SECONDS = 900

/**
 * The queues of executions that wait for the runner: of those that run alone, and of those that share a worker and are
 * received in batches. A message that SQS does not accept is logged and counted here,
 * because most callers leave it to the sweeper.
 */
export function openRunQueue(environment: Environment = process.env) {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const modelQueueUrl = environment[MODEL_QUEUE_URL] || queueUrl
  const client = new SQSClient(clientConfig(environment[SQS_ENDPOINT]))
  const reportFailure = (message: DelayedExecution, cause: { name: string; message: string }) => {
    const body = bodyOf(message)
    logger.error('message not sent', { ...body, cause })
    countEnqueueFailure(body, environment)
  }

  const send: BatchQueue['send'] = async (message) => {
    const QueueUrl = message.sharesWorker ? modelQueueUrl : queueUrl
    try {
      await client.send(new SendMessageCommand({ QueueUrl, ...toEntry(message) }))
      events.emit('enqueued')
    } catch (error) {
      const { name, message: text } = error as Error
      reportFailure(message, { name, message: text })
      throw isRetryable(error) ? new Unavailable(error) : error
    }
  }

  const sendBatch: BatchQueue['sendBatch'] = async (messages) => {
    const Entries = messages.map((message, index) => ({ Id: String(index), ...toEntry(message) }))
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries })
    const { Successful = [], Failed = [] } = await client.send(command).catch((error: Error) => {
      const { name: Code, message: Message } = error
      return { Successful: [], Failed: Entries.map(({ Id }) => ({ Id, Code, Message })) }
    })
    if (Successful.length > 0) events.emit('enqueued')
    for (const { Id, Code = 'Unknown', Message = '' } of Failed)
      reportFailure(messages[Number(Id)] as DelayedExecution, { name: Code, message: Message })
    const [first] = Failed
    if (first) throw new Unavailable(new Error(`${first.Code}: ${first.Message}`))
  }

  return {
    send,
    sendBatch,

    /** The message of a record, in the queue that it was received from. */
    received({ receiptHandle: ReceiptHandle, eventSourceARN }: Received) {
      const QueueUrl = modelQueueUrl.endsWith(`/${nameOf(eventSourceARN)}`) ? modelQueueUrl : queueUrl
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

const bodyOf = ({ executionId, organizationId, wakes }: DelayedExecution): RunMessage => ({
  executionId,
  organizationId,
  ...(wakes && { wakes }),
})

/** The delay is rounded up to seconds: a message that arrives early is in vain. */
const toEntry = (message: DelayedExecution) => ({
  MessageBody: JSON.stringify(bodyOf(message)),
  MessageGroupId: messageGroupId(message.organizationId, message.tenantId),
  DelaySeconds: Math.min(Math.ceil((message.delayMs ?? 0) / 1000), MAX_DELAY_SECONDS),
})

/** Of a queue, which is the last part of its URL, too. */
const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1)

/** @throws an Error when the body is not a run message */
export function parseRunMessage(body: string): RunMessage {
  const message: unknown = JSON.parse(body)
  const { executionId, organizationId, wakes } = isJsonObject(message) ? message : {}
  if (!isId(executionId) || !isId(organizationId)) {
    throw new Error('Invalid run message: it must have an executionId and an organizationId.')
  }
  return { executionId, organizationId, ...(wakes === true && { wakes }) }
}

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value)

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
