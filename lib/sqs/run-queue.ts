import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientConfig, orUnavailable } from '../aws-sdk.ts'
import { isUuid } from '../core/ids.ts'
import { isJsonObject } from '../core/json.ts'
import type { RunQueue } from '../core/ports.ts'
import { type Environment, QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../environment.ts'

/** A message of the run queue: where to find the execution, whose record holds everything else. */
export type RunMessage = { executionId: string; organizationId: string }

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const MAX_DELAY_SECONDS = 900

/** The queue of executions that wait for the runner. */
export function runQueue(environment: Environment = process.env): RunQueue {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const client = new SQSClient(clientConfig(environment[SQS_ENDPOINT]))
  return {
    async send({ executionId, organizationId, tenantId, delayMs = 0 }) {
      await orUnavailable(
        client.send(
          new SendMessageCommand({
            QueueUrl: queueUrl,
            MessageBody: JSON.stringify({ executionId, organizationId } satisfies RunMessage),
            MessageGroupId: groupOf(organizationId, tenantId),
            DelaySeconds: Math.min(Math.ceil(delayMs / 1000), MAX_DELAY_SECONDS),
          }),
        ),
      )
    },
  }
}

/** Keeps a message that was received from being delivered again for some milliseconds, 12 hours at most. */
export function messageHider(
  environment: Environment = process.env,
): (receiptHandle: string, ms: number) => Promise<void> {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const client = new SQSClient(clientConfig(environment[SQS_ENDPOINT]))
  return async (receiptHandle, ms) => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: Math.ceil(ms / 1000),
      }),
    )
  }
}

/** @throws an Error when the text is no message of ours. */
export function parseRunMessage(body: string): RunMessage {
  const message: unknown = JSON.parse(body)
  const { executionId, organizationId } = isJsonObject(message) ? message : {}
  if (!isId(executionId) || !isId(organizationId)) throw new Error('The message names no execution.')
  return { executionId, organizationId }
}

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value)

/**
 * SQS fair queues keep one group's backlog from delaying the others'. A group id has at most 128 characters of a set
 * that a tenant id may leave, so the tenant goes in as base64url, cut: a shared group is only a shared turn.
 */
function groupOf(organizationId: string, tenantId: string | null): string {
  return `${organizationId}.${Buffer.from(tenantId ?? '').toString('base64url')}`.slice(0, 128)
}
