import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { Unavailable } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { LEASE_MS } from '../core/limits.ts'
import type { RunQueue } from '../core/ports.ts'
import { type Environment, QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../environment.ts'

/** A message of the run queue: only a name, since the execution's record holds everything else. */
const messageSchema = z.object({ executionId: z.string().refine(isUuid) })

export type RunMessage = z.infer<typeof messageSchema>

/** The queue of executions that wait for the runner. */
export function runQueue(environment: Environment = process.env): RunQueue {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const client = new SQSClient(sqsConfig(environment[SQS_ENDPOINT]))
  return {
    async send({ executionId, organizationId, tenantId }) {
      try {
        await client.send(
          new SendMessageCommand({
            QueueUrl: queueUrl,
            MessageBody: JSON.stringify({ executionId } satisfies RunMessage),
            MessageGroupId: groupOf(organizationId, tenantId),
          }),
        )
      } catch (error) {
        throw new Unavailable(error)
      }
    },
  }
}

/** Keeps a message that is being worked on from being delivered again, for as long as a lease. */
export function messageKeeper(
  environment: Environment = process.env,
): (receiptHandle: string) => Promise<void> {
  const queueUrl = requireEnv(QUEUE_URL, environment)
  const client = new SQSClient(sqsConfig(environment[SQS_ENDPOINT]))
  return async (receiptHandle) => {
    const VisibilityTimeout = LEASE_MS / 1000
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout,
      }),
    )
  }
}

/** @throws an Error when the text is no message of ours. */
export function parseRunMessage(body: string): RunMessage {
  return messageSchema.parse(JSON.parse(body))
}

/** Emulators take any credentials and region, but the client insists on some. */
export function sqsConfig(endpoint: string | undefined) {
  if (!endpoint) return {}
  return { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
}

/**
 * SQS fair queues keep one group's backlog from delaying the others'. A group id has at most 128 characters of a set
 * that a tenant id may leave, so the tenant goes in as base64url, cut: a shared group is only a shared turn.
 */
function groupOf(organizationId: string, tenantId: string | null): string {
  return `${organizationId}.${Buffer.from(tenantId ?? '').toString('base64url')}`.slice(0, 128)
}
