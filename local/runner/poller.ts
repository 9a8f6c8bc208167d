import { setTimeout as sleep } from 'node:timers/promises'
import {
  ChangeMessageVisibilityBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { clientConfig, createRequestHandler } from '../../lib/aws-sdk.ts'
import { isFiringGroup, parseRunMessage, runGroupOf } from '../../lib/sqs/run-queue.ts'
import { createDeleter } from './deleter.ts'
import { adaptSlots, FairQueue, FIRST_SLOTS } from './fair-queue.ts'

type Options = {
  endpoint: string
  queueUrl: string
  handler: (event: SQSEvent) => Promise<SQSBatchResponse>
  /** Messages in process at the same time at most, if this machine keeps up with them. */
  concurrency: number
  onError: (error: unknown) => void
  /** By default of run messages. @throws an Error if the body is invalid */
  identify?: (body: string) => { id: string; group: string }
}

/** Runs of which each may be what kills this process: one at a time, so that the others end. */
const SUSPECTS = 'suspects'
const RECEIVE_SECONDS = 20
const MAX_MESSAGES = 10
/** Requests at the same time while there are more messages than one of them receives. */
const RECEIVERS = 4
const DELAY_AFTER_ERROR_MS = 500
/** How often the number of messages in process adapts to the machine. */
const ADAPT_MS = 100
/** While fewer than a batch may start, a busy poller waits this long for more of its messages to end. */
const LINGER_MS = 20
/** SQS responds to a long poll when a message arrives or the poll ends. */
const TIMEOUT_MS = (RECEIVE_SECONDS + 5) * 1000
/** The maximum of SQS. A message that waits here is not delivered again; after a crash, the sweeper sends another. */
const HELD_SECONDS = 43_200
/** Far below the visibility timeouts of the queues. */
const HIDE_AFTER_MS = 1_000
/** Messages received ahead: some kilobytes each. An organization has 1,000 open executions by default. */
const MAX_HELD = 10_000

/**
 * Lambda's event source mapping on this machine: calls the handler for each message, and deletes those that succeed. It
 * receives more messages than it may process at a time, because the embedded queue is first in, first out: only so can
 * it see those of other groups behind a backlog.
 */
export function startPoller({
  endpoint,
  queueUrl,
  handler,
  concurrency,
  onError,
  identify = identifyRun,
}: Options) {
  const client = new SQSClient({
    ...clientConfig(endpoint),
    requestHandler: createRequestHandler(TIMEOUT_MS, { endpoint }),
  })
  const stopping = new AbortController()
  const inProcess = new Set<Promise<void>>()
  const queue = new FairQueue<Message>(Math.min(FIRST_SLOTS, concurrency), {
    limits: { [SUSPECTS]: 1 },
    isUrgent: isFiringGroup,
  })
  /** What the messages of the queue are about: the sweeper sends another one for what waits for long. */
  const held = new Set<string>()
  const unfinished = new Set<Message>()
  const hiding = new Set<Promise<void>>()
  const timers = new Set<NodeJS.Timeout>()
  const deleter = createDeleter({ client, queueUrl, onError })
  let onEnd = () => {}
  let adapting: NodeJS.Timeout | undefined

  /** An invalid message is alone: its handler reports it. */
  const identifyMessage = ({ Body = '', MessageId: id = '' }: Message) => {
    try {
      return identify(Body)
    } catch {
      return { id, group: '' }
    }
  }
  const idOf = (message: Message): string => identifyMessage(message).id

  const processMessage = async (message: Message) => {
    try {
      const { batchItemFailures } = await handler({ Records: [toRecord(message)] })
      if (batchItemFailures.length > 0) return
      deleter.delete(message.ReceiptHandle ?? '')
    } catch (error) {
      onError(error)
    }
  }

  const receive = async (WaitTimeSeconds: number): Promise<Message[]> => {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: MAX_MESSAGES,
          WaitTimeSeconds,
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

  /** Waits for the first message, unless there must be more than those that were received last. */
  const receiveNext = async (last: Message[]): Promise<Message[]> => {
    if (last.length === 0 || last.length % MAX_MESSAGES > 0) return receive(RECEIVE_SECONDS)
    return (await Promise.all(Array.from({ length: RECEIVERS }, () => receive(0)))).flat()
  }

  const changeVisibility = async (messages: Message[], VisibilityTimeout: number): Promise<void> => {
    const requests: Promise<unknown>[] = []
    for (let start = 0; start < messages.length; start += MAX_MESSAGES) {
      const batch = messages.slice(start, start + MAX_MESSAGES)
      const Entries = batch.map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout,
      }))
      const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries })
      requests.push(client.send(command).catch(onError))
    }
    await Promise.all(requests)
  }

  /** Hides messages that may not start yet, until they may. Most of them start before that takes a request. */
  const hide = (messages: Message[]): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      const waiting = messages.filter((message) => held.has(idOf(message)))
      const request = changeVisibility(waiting, HELD_SECONDS).finally(() => hiding.delete(request))
      hiding.add(request)
    }, HIDE_AFTER_MS)
    timers.add(timer)
  }

  const enqueue = (message: Message): void => {
    const { id, group } = identifyMessage(message)
    if (held.has(id)) {
      deleter.delete(message.ReceiptHandle ?? '')
      return
    }
    queue.add(group, message)
    held.add(id)
    unfinished.add(message)
  }

  /** While something is in process. */
  const adapt = (): void => {
    const startedAt = performance.now()
    adapting = setTimeout(() => {
      const lateMs = performance.now() - startedAt - ADAPT_MS
      queue.slots = adaptSlots(queue.slots, { max: concurrency, running: queue.running, lateMs })
      adapting = undefined
      startRuns()
    }, ADAPT_MS)
  }

  const startRuns = (): void => {
    for (let next = queue.next(); next && !stopping.signal.aborted; next = queue.next()) {
      const { item, end } = next
      held.delete(idOf(item))
      const task = processMessage(item).finally(() => {
        inProcess.delete(task)
        unfinished.delete(item)
        end()
        startRuns()
        onEnd()
      })
      inProcess.add(task)
    }
    if (inProcess.size > 0 && !adapting) adapt()
  }

  /** Not `Promise.race`: it would retain memory until the longest run ends. */
  const onceBelowMax = async (): Promise<void> => {
    while (queue.waiting >= MAX_HELD && !stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        onEnd = resolve
      })
    }
  }

  const loop = (async () => {
    let messages: Message[] = []
    while (!stopping.signal.aborted) {
      await onceBelowMax()
      messages = await receiveNext(messages)
      for (const message of messages) enqueue(message)
      startRuns()
      hide(messages)
      const isBusy = queue.running > queue.slots - MAX_MESSAGES && queue.running > 0
      if (isBusy && messages.length < MAX_MESSAGES) await sleep(LINGER_MS)
    }
  })()

  return {
    /**
     * Stops receiving, and waits for the messages in process. The sweeper sends those that have not started again.
     * @param maxMs how long to wait at most: what has not ended then becomes visible again, for another process
     */
    async stop(maxMs?: number): Promise<void> {
      stopping.abort()
      onEnd()
      await loop
      clearTimeout(adapting)
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(hiding)
      const ended = Promise.all(inProcess)
      await (maxMs === undefined ? ended : Promise.race([ended, sleep(maxMs)]))
      await Promise.all([
        deleter.flush(),
        maxMs === undefined ? undefined : changeVisibility([...unfinished], 0),
      ])
    },
  }
}

const identifyRun = (body: string) => {
  const message = parseRunMessage(body)
  const id = 'executionId' in message ? message.executionId : JSON.stringify(message)
  return { id, group: 'isSuspect' in message ? SUSPECTS : runGroupOf(message) }
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
