import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { Unavailable } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { RunQueue } from '../core/ports.ts'
import { type Environment, QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../environment.ts'

/** A message of the run queue: where to find the execution, whose record holds everything else. */
const messageSchema = z.object({
  executionId: z.string().refine(isUuid),
  organizationId: z.string().refine(isUuid),
})

export type RunMessage = z.infer<typeof messageSchema>

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const MAX_DELAY_SECONDS = 900

/** The queue of executions that wait for the runner. */
export function runQueue(environment: Environment = process.env): RunQueue {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const client = new SQSClient(sqsConfig(environment[SQS_ENDPOINT]))
  return {
    async send({ executionId, organizationId, tenantId, delayMs = 0 }) {
      try {
        await client.send(
          new SendMessageCommand({
            QueueUrl: queueUrl,
            MessageBody: JSON.stringify({ executionId, organizationId } satisfies RunMessage),
            MessageGroupId: groupOf(organizationId, tenantId),
            DelaySeconds: Math.min(Math.ceil(delayMs / 1000), MAX_DELAY_SECONDS),
          }),
        )
      } catch (error) {
        throw new Unavailable(error)
      }
    },
  }
}

/** Keeps a message that was received from being delivered again for some milliseconds, 12 hours at most. */
export function messageHider(
  environment: Environment = process.env,
): (receiptHandle: string, ms: number) => Promise<void> {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const client = new SQSClient(sqsConfig(environment[SQS_ENDPOINT]))
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
  return messageSchema.parse(JSON.parse(body))
}

/**
 * No call may hang: the longest poll takes 20 s. Emulators take any credentials and region, but the client insists on
 * some, and their queues are found at their endpoint whatever host a queue's address names.
 */
export function sqsConfig(endpoint: string | undefined) {
  const requestHandler = { connectionTimeout: 2_000, requestTimeout: 25_000, throwOnRequestTimeout: true }
  if (!endpoint) return { requestHandler }
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return { endpoint, region: 'local', credentials, requestHandler, useQueueUrlAsEndpoint: false }
}

/**
 * SQS fair queues keep one group's backlog from delaying the others'. A group id has at most 128 characters of a set
 * that a tenant id may leave, so the tenant goes in as base64url, cut: a shared group is only a shared turn.
 */
function groupOf(organizationId: string, tenantId: string | null): string {
  return `${organizationId}.${Buffer.from(tenantId ?? '').toString('base64url')}`.slice(0, 128)
}
