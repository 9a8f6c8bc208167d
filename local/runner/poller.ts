import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { clientConfig, createRequestHandler } from '../../lib/aws-sdk.ts'
import { createDeleter } from './deleter.ts'

type Options = {
  endpoint: string
  queueUrl: string
  handler: (event: SQSEvent) => Promise<SQSBatchResponse>
  /** Messages in process at the same time. */
  concurrency: number
  onError: (error: unknown) => void
}

const RECEIVE_SECONDS = 10
const MAX_MESSAGES = 10
const DELAY_AFTER_ERROR_MS = 500
/** While fewer than a batch may be received, a busy poller waits this long for more of its messages to end. */
const LINGER_MS = 10
/** SQS responds to a long poll when a message arrives or the poll ends. */
const TIMEOUT_MS = (RECEIVE_SECONDS + 5) * 1000

/** Lambda's event source mapping on this machine: calls the handler for each message, and deletes those that succeed. */
export function startPoller({ endpoint, queueUrl, handler, concurrency, onError }: Options) {
  const client = new SQSClient({
    ...clientConfig(endpoint),
    requestHandler: createRequestHandler(TIMEOUT_MS),
  })
  const stopping = new AbortController()
  const inProcess = new Set<Promise<void>>()
  const deleter = createDeleter({ client, queueUrl, onError })
  let onEnd = () => {}

  const processMessage = async (message: Message) => {
    try {
      const { batchItemFailures } = await handler({ Records: [toRecord(message)] })
      if (batchItemFailures.length > 0) return
      deleter.delete(message.ReceiptHandle ?? '')
    } catch (error) {
      onError(error)
    }
  }

  const receive = async (max: number): Promise<Message[]> => {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: Math.min(max, MAX_MESSAGES),
          WaitTimeSeconds: RECEIVE_SECONDS,
          MessageSystemAttributeNames: ['All'],
        }),
        { abortSignal: stopping.signal },
      )
      return Messages
    } catch (error) {
      if (stopping.signal.aborted) return []
      onError(error)
      await sleep(DELAY_AFTER_ERROR_MS)
      return []
    }
  }

  /** How many messages may be received. Not `Promise.race`: it would retain memory until the longest run ends. */
  const freeSlots = async (): Promise<number> => {
    while (inProcess.size >= concurrency) {
      await new Promise<void>((resolve) => {
        onEnd = resolve
      })
    }
    const isBusy = inProcess.size > concurrency - MAX_MESSAGES && inProcess.size > 0
    if (isBusy) await sleep(LINGER_MS)
    return concurrency - inProcess.size
  }

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      for (const message of await receive(await freeSlots())) {
        const task = processMessage(message).finally(() => {
          inProcess.delete(task)
          onEnd()
        })
        inProcess.add(task)
      }
    }
  })()

  return {
    /** Stops receiving, and waits for the messages in process. */
    async stop(): Promise<void> {
      stopping.abort()
      await loop
      await Promise.all(inProcess)
      await deleter.flush()
    },
  }
}

/** A message as Lambda's event source mapping passes it to a function. */
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
