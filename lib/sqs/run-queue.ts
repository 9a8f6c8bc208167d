import { hash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { clientConfig, isRetryable, orUnavailable } from '../aws-sdk.ts'
import { Unavailable } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { isJsonObject } from '../core/json/json.ts'
import type { RunQueue } from '../core/ports.ts'
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
  const send: RunQueue['send'] = async ({ tenantId, sharesWorker, wakes, delayMs = 0, ...ids }) => {
    const { executionId, organizationId } = ids
    const body: RunMessage = { executionId, organizationId, ...(wakes && { wakes }) }
    const command = new SendMessageCommand({
      QueueUrl: sharesWorker ? modelQueueUrl : queueUrl,
      MessageBody: JSON.stringify(body),
      MessageGroupId: messageGroupId(organizationId, tenantId),
      DelaySeconds: Math.min(Math.ceil(delayMs / 1000), MAX_DELAY_SECONDS),
    })
    try {
      await client.send(command)
      events.emit('enqueued')
    } catch (error) {
      const { name, message } = error as Error
      logger.error('message not sent', { ...body, cause: { name, message } })
      countEnqueueFailure(body, environment)
      throw isRetryable(error) ? new Unavailable(error) : error
    }
  }

  return {
    send,

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
