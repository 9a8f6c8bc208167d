import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { clientConfig, createRequestHandler } from '../lib/aws-sdk.ts'

type Options = {
  endpoint: string
  queueUrl: string
  handler: (event: SQSEvent) => Promise<SQSBatchResponse>
  /** Messages in work at the same time. */
  concurrency: number
  onError: (error: unknown) => void
}

const RECEIVE_SECONDS = 10
const MAX_BATCH = 10
const PAUSE_AFTER_ERROR_MS = 500
/** A long poll is silent until a message arrives. */
const TIMEOUT_MS = (RECEIVE_SECONDS + 5) * 1000

/**
 * Lambda's event source mapping on this machine: receives messages by long poll, calls the handler for each, deletes
 * those that it did not report as failed.
 */
export function startPoller({ endpoint, queueUrl, handler, concurrency, onError }: Options) {
  const client = new SQSClient({
    ...clientConfig(endpoint),
    requestHandler: createRequestHandler(TIMEOUT_MS),
  })
  const stopping = new AbortController()
  const inWork = new Set<Promise<void>>()

  const work = async (message: Message) => {
    try {
      const { batchItemFailures } = await handler({ Records: [toRecord(message)] })
      if (batchItemFailures.length > 0) return
      await client.send(
        new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }),
      )
    } catch (error) {
      onError(error)
    }
  }

  const receive = async (free: number): Promise<Message[]> => {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: Math.min(free, MAX_BATCH),
          WaitTimeSeconds: RECEIVE_SECONDS,
          MessageSystemAttributeNames: ['All'],
        }),
        { abortSignal: stopping.signal },
      )
      return Messages
    } catch (error) {
      if (stopping.signal.aborted) return []
      onError(error)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_ERROR_MS))
      return []
    }
  }

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      if (inWork.size >= concurrency) await Promise.race(inWork)
      for (const message of await receive(concurrency - inWork.size)) {
        const task = work(message).finally(() => inWork.delete(task))
        inWork.add(task)
      }
    }
  })()

  return {
    /** Takes no more messages, and waits for those in work. */
    async stop(): Promise<void> {
      stopping.abort()
      await loop
      await Promise.all(inWork)
    },
  }
}

/** A message as the event source mapping hands it to a function. */
export function toRecord(message: Message): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: message.Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: {},
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:local:000000000000:runs',
    awsRegion: 'local',
  }
}
