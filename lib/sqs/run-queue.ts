import { hash } from 'node:crypto'
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { orUnavailable } from '../aws-sdk.ts'
import { Unavailable } from '../core/errors.ts'
import type { BatchQueue, DelayedExecution } from '../core/ports.ts'
import { type Environment, MODEL_QUEUE_URL, QUEUE_URL, requireEnv } from '../environment.ts'
import {
  emitSent,
  type Ids,
  type OutgoingMessage,
  onSent,
  openSqs,
  parseMessage,
  reportUnsent,
  sendMessage,
  toEntry,
} from './send-message.ts'

export type RunMessage = Ids & { wakes?: true }

/** Calls the listener after each message that this process sends: the local service starts its runner then. */
export const onRunEnqueued = (listener: () => void): (() => void) => onSent('runs', listener)

/**
 * The queues of executions that wait for the runner: of those that run alone, and of those that share a worker and are
 * received in batches. A message that SQS does not accept is logged and counted.
 */
export function openRunQueue(environment: Environment = process.env) {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const modelQueueUrl = environment[MODEL_QUEUE_URL] || queueUrl
  const client = openSqs(environment)

  const send: BatchQueue['send'] = (execution) => {
    const QueueUrl = execution.sharesWorker ? modelQueueUrl : queueUrl
    return sendMessage(client, { queue: 'runs', QueueUrl, message: toMessage(execution), environment })
  }

  const sendBatch: BatchQueue['sendBatch'] = async (executions) => {
    const messages = executions.map(toMessage)
    const Entries = messages.map((message, index) => ({ Id: String(index), ...toEntry(message) }))
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries })
    const { Successful = [], Failed = [] } = await client.send(command).catch((error: Error) => {
      const { name: Code, message: Message } = error
      return { Successful: [], Failed: Entries.map(({ Id }) => ({ Id, Code, Message })) }
    })
    if (Successful.length > 0) emitSent('runs')
    for (const { Id, Code = 'Unknown', Message = '' } of Failed)
      reportUnsent(messages[Number(Id)]?.body as Ids, { name: Code, message: Message }, environment)
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

const toMessage = (execution: DelayedExecution): OutgoingMessage => {
  const { executionId, organizationId, tenantId, wakes, delayMs } = execution
  const body: RunMessage = { executionId, organizationId, ...(wakes && { wakes }) }
  return { body, group: messageGroupId(organizationId, tenantId), delayMs }
}

/** Of a queue, which is the last part of its URL, too. */
const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1)

/** @throws an Error when the body is not a run message */
export function parseRunMessage(body: string): RunMessage {
  const { members, ...ids } = parseMessage(body, 'run')
  return { ...ids, ...(members.wakes === true && { wakes: true }) }
}

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
