/**
 * A runner's process that receives batches, as Lambda's event source mapping does: it deletes the messages of a batch
 * when the function has ended, except those that the function reports. It delivers events, too: those of the services
 * hardly live for as long as it takes to begin with it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { handler as deliverEvents } from '../../../../functions/deliver-events.ts'
import { handler } from '../../../../functions/process-execution.ts'
import {
  DELIVERY_QUEUE_URL,
  LEASE_SECONDS,
  QUEUE_URL,
  requireEnv,
  SQS_ENDPOINT,
} from '../../../../lib/environment.ts'
import { toRecord } from '../../../../local/runner/poller.ts'
import { sdkConfig } from '../../../support/tables/sdk.ts'
import { type BatchReport, INVALID_MESSAGE, QUEUE_LEASES } from './queue-settings.ts'

const BATCH_SIZE = 10
/** How long messages are collected for a batch, and how many batches are processed at a time. */
const WINDOW_MS = 500
const CONCURRENCY = 3

const client = new SQSClient(sdkConfig(requireEnv(SQS_ENDPOINT)))
const runs = requireEnv(QUEUE_URL)
const deliveries = requireEnv(DELIVERY_QUEUE_URL)
const maxMs = QUEUE_LEASES * Number(requireEnv(LEASE_SECONDS)) * 1000

async function receive(QueueUrl: string): Promise<Message[]> {
  const messages: Message[] = []
  const endsAt = performance.now() + WINDOW_MS
  while (messages.length < BATCH_SIZE && performance.now() < endsAt) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: BATCH_SIZE - messages.length,
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['All'],
      }),
    )
    messages.push(...Messages)
  }
  return messages
}

async function processBatch(messages: Message[]): Promise<void> {
  const endsAt = Date.now() + maxMs
  const context = { getRemainingTimeInMillis: () => endsAt - Date.now() }
  const { batchItemFailures } = await handler({ Records: messages.map(toRecord) }, context)
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
  const isFailed = ({ MessageId = '' }: Message) => failed.has(MessageId)
  const [invalid, valid] = [true, false].map((isInvalid) =>
    messages.filter(({ Body }) => (Body === INVALID_MESSAGE) === isInvalid),
  ) as [Message[], Message[]]
  const report: BatchReport = {
    invalid: invalid.length,
    invalidFailed: invalid.filter(isFailed).length,
    valid: valid.length,
    validFailed: valid.filter(isFailed).length,
  }
  process.send?.(report)
  await deleteMessages(
    runs,
    messages.filter((message) => !isFailed(message)),
  )
}

async function deliverBatch(messages: Message[]): Promise<void> {
  const { batchItemFailures } = await deliverEvents({ Records: messages.map(toRecord) })
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
  await deleteMessages(
    deliveries,
    messages.filter(({ MessageId = '' }) => !failed.has(MessageId)),
  )
}

async function deleteMessages(QueueUrl: string, done: Message[]): Promise<void> {
  if (done.length === 0) return
  const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
  await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
}

async function repeat(queueUrl: string, process: (messages: Message[]) => Promise<void>): Promise<never> {
  for (;;) {
    try {
      const messages = await receive(queueUrl)
      if (messages.length > 0) await process(messages)
    } catch {
      // Faults reach the runner's own requests, too: the messages become visible again.
      await sleep(WINDOW_MS)
    }
  }
}

process.once('disconnect', () => process.exit(0))
await Promise.all(
  Array.from({ length: CONCURRENCY }, () => [
    repeat(runs, processBatch),
    repeat(deliveries, deliverBatch),
  ]).flat(),
)
