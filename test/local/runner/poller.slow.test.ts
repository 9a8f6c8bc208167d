import { setTimeout } from 'node:timers/promises'
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { deliveryGroupOf, openDeliveryQueue, parseDeliveryMessage } from '../../../lib/sqs/delivery-queue.ts'
import { openRunQueue, parseRunMessage } from '../../../lib/sqs/run-queue.ts'
import { system } from '../../../lib/system.ts'
import { provisionQueues } from '../../../local/emulators/provision.ts'
import { startPoller } from '../../../local/runner/poller.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'
import { startSqs } from '../../support/service/port-emulators.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'

let sqs: Awaited<ReturnType<typeof startSqs>>
let proxy: HttpProxy
beforeAll(async () => {
  sqs = await startSqs()
  proxy = await startProxy(sqs.endpoint)
})
afterAll(async () => {
  await proxy.stop()
  await sqs.stop()
})

const MESSAGES = 25
const executionIdOf = (body = ''): string => (parseRunMessage(body) as { executionId: string }).executionId
const SUCCESS = { batchItemFailures: [] }

async function countMessages(QueueUrl: string) {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] })
  const { Attributes } = await new SQSClient(sdkConfig(sqs.endpoint)).send(command)
  return {
    visible: Number(Attributes?.ApproximateNumberOfMessages),
    invisible: Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
  }
}

/** Returns for how long messages were hidden since. */
function watchHiding() {
  const sent = vi.spyOn(SQSClient.prototype, 'send')
  onTestFinished(() => sent.mockRestore())
  return () =>
    sent.mock.calls
      .map(([command]) => command)
      .filter((command) => command instanceof ChangeMessageVisibilityBatchCommand)
      .flatMap(({ input }) => input.Entries ?? [])
      .map(({ VisibilityTimeout = 0 }) => VisibilityTimeout)
}

/** A poller of a new queue with `MESSAGES` messages. `fails` are the messages that its handler reports as failed. */
async function poll({ concurrency = 32, fails = 0 } = {}) {
  const { runs: queueUrl } = await provisionQueues(sqs.endpoint, `poller-${system.newId()}`, 60)
  const queue = openRunQueue({ QUEUE_URL: queueUrl, SQS_ENDPOINT: sqs.endpoint })
  const organizationId = system.newId()
  for (let i = 0; i < MESSAGES; i++)
    await queue.send({ executionId: system.newId(), organizationId, tenantId: null })
  const before = { ...proxy.counts.operations }
  const processed = new Set<string>()
  const inProcess = { now: 0, max: 0 }
  const handler = async ({ Records }: SQSEvent) => {
    inProcess.max = Math.max(inProcess.max, ++inProcess.now)
    // Longer than a receive, so that messages overlap if they may.
    await setTimeout(20)
    inProcess.now--
    const [record] = Records
    processed.add(executionIdOf(record?.body))
    return processed.size <= fails
      ? { batchItemFailures: [{ itemIdentifier: record?.messageId ?? '' }] }
      : SUCCESS
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const poller = startPoller({ endpoint: proxy.url, queueUrl, handler, concurrency, onError })
  await vi.waitFor(() => expect(processed.size).toBe(MESSAGES))
  await poller.stop()
  const { visible, invisible } = await countMessages(queueUrl)
  return {
    left: visible + invisible,
    requests: (operation: string) => (proxy.counts.operations[operation] ?? 0) - (before[operation] ?? 0),
    maxInProcess: inProcess.max,
    errors,
  }
}

describe('startPoller', () => {
  it('receives ten messages at a time, and deletes those that were processed in batches', async () => {
    const { left, requests, errors } = await poll({ fails: 3 })
    expect({ left, errors }).toEqual({ left: 3, errors: [] })
    expect(requests('DeleteMessage')).toBe(0)
    expect(requests('DeleteMessageBatch')).toBeLessThan(MESSAGES / 2)
    expect(requests('ReceiveMessage')).toBeLessThan(MESSAGES / 2)
  })

  it('processes no more messages at a time than it may', async () => {
    const { left, errors, maxInProcess } = await poll({ concurrency: 2 })
    expect({ left, errors }).toEqual({ left: 0, errors: [] })
    expect(maxInProcess).toBeLessThanOrEqual(2)
  })
})

describe('startPoller, of messages that are not of runs', () => {
  it('takes turns between their groups, and returns what has not ended when it has to stop', async () => {
    const { deliveries: queueUrl } = await provisionQueues(sqs.endpoint, `poller-${system.newId()}`, 60)
    const environment = { DELIVERY_QUEUE_URL: queueUrl, SQS_ENDPOINT: sqs.endpoint }
    const queue = openDeliveryQueue(environment)
    const organizationId = system.newId()
    const anEvent = () => ({ subject: { kind: 'execution' as const, id: system.newId() }, organizationId })
    const send = async (destinationId: string, count: number) => {
      for (let revision = 1; revision <= count; revision++)
        await queue.send({ ...anEvent(), destinationId, revision })
    }
    const started: string[] = []
    const handler = async ({ Records: [record] }: SQSEvent) => {
      const { destinationId = '' } = parseDeliveryMessage(record?.body ?? '')
      started.push(destinationId)
      await (destinationId === 'hangs' ? new Promise(() => undefined) : undefined)
      return SUCCESS
    }
    const poller = startPoller({
      endpoint: sqs.endpoint,
      queueUrl,
      handler,
      concurrency: 5,
      onError: (error) => expect.fail(String(error)),
      identify(body) {
        const message = parseDeliveryMessage(body)
        return { id: message.subject.id, group: deliveryGroupOf(message) }
      },
    })
    await send('hangs', 12)
    await vi.waitFor(() => expect(started).toHaveLength(4))
    await send('answers', 12)
    await vi.waitFor(() => expect(started.filter((id) => id === 'answers')).toHaveLength(12))
    const hidden = watchHiding()
    await poller.stop(100)
    expect(started.filter((id) => id === 'hangs')).toHaveLength(4)
    // Not by the number of visible messages: the request that the poller has aborted receives some in the emulator.
    expect(hidden()).toEqual(Array(12).fill(0))
  })
})

/** A poller whose handler processes a message until it is told to end. Messages are named `<organization> <number>`. */
async function pollByHand() {
  const { runs: queueUrl } = await provisionQueues(sqs.endpoint, `poller-${system.newId()}`, 60)
  const queue = openRunQueue({ QUEUE_URL: queueUrl, SQS_ENDPOINT: sqs.endpoint })
  const names = new Map<string, string>()
  const running = new Map<string, () => void>()
  const started: string[] = []
  const handler = async ({ Records: [record] }: SQSEvent) => {
    const run = names.get(executionIdOf(record?.body)) ?? record?.body ?? ''
    started.push(run)
    await new Promise<void>((resolve) => running.set(run, resolve))
    running.delete(run)
    return SUCCESS
  }
  const hidden = watchHiding()
  const onError = (error: unknown) => expect.fail(String(error))
  const poller = startPoller({ endpoint: sqs.endpoint, queueUrl, handler, concurrency: 5, onError })
  onTestFinished(async () => {
    const stopped = poller.stop()
    for (const end of running.values()) end()
    await stopped
  })
  const ids = new Map<string, string>()
  return {
    started,
    running: () => [...running.keys()],
    end: (run: string) => running.get(run)?.(),
    queue,
    idOf: (organization: string) => ids.get(organization) ?? '',
    async send(
      organization: string,
      count: number,
      tenantOf: () => string | null = () => 'acme',
      isLine = false,
    ) {
      const organizationId = ids.get(organization) ?? system.newId()
      ids.set(organization, organizationId)
      for (let i = 0; i < count; i++) {
        const executionId = system.newId()
        const sent = [...names.values()].filter((name) => name.startsWith(organization)).length
        names.set(executionId, `${organization} ${sent}`)
        await queue.send({ executionId, organizationId, tenantId: tenantOf(), isLine })
      }
    },
    /** As the sweeper does. */
    async sendAgain(runs: string[]) {
      for (const [executionId, run] of names) {
        const organizationId = ids.get(run.split(' ')[0] ?? '') ?? ''
        if (runs.includes(run)) await queue.send({ executionId, organizationId, tenantId: 'acme' })
      }
    },
    /** Messages that the poller has not received. */
    visible: async () => (await countMessages(queueUrl)).visible,
    /** Messages that the poller has hidden for longer than the timeout of the queue. */
    hidden: () => hidden().filter((seconds) => seconds > 60).length,
  }
}

describe('startPoller, with the messages of several organizations', () => {
  it('starts other runs of an organization beside hundreds of lines of its batches, and feeds those', async () => {
    const { send, running, started, end, queue, idOf } = await pollByHand()
    await send('busy', 300, undefined, true)
    await vi.waitFor(() => expect(running()).toHaveLength(4))
    await send('busy', 1)
    await vi.waitFor(() => expect(running()).toContain('busy 300'))
    end('busy 300')
    const organizationId = idOf('busy')
    const feeding = { batchId: system.newId(), organizationId }
    const firing = { agentId: system.newId(), organizationId, schedule: 'nightly', at: Date.now() }
    const ofLane = { ...feeding, lane: 7, at: 0 }
    for (const message of [feeding, ofLane]) await queue.feed(message)
    await queue.fire(firing)
    const messages = [feeding, ofLane, firing]
    const others = () => started.filter((run) => run.startsWith('{'))
    for (const index of messages.keys()) {
      await vi.waitFor(() => expect(others()).toHaveLength(index + 1))
      end(others()[index] ?? '')
    }
    const received = others().map((run) => JSON.parse(run))
    expect(received).toEqual(expect.arrayContaining(messages))
  })

  it('hides the messages that wait, and deletes what the sweeper sends again for them', async () => {
    const { send, sendAgain, running, end, visible, hidden, started } = await pollByHand()
    await send('busy', 12)
    await vi.waitFor(() => expect(running()).toHaveLength(4))
    await vi.waitFor(async () => expect(await visible()).toBe(0))
    await vi.waitFor(() => expect(hidden()).toBe(8))
    const waiting = Array.from({ length: 8 }, (_, i) => `busy ${i + 4}`)
    await sendAgain(waiting)
    await vi.waitFor(async () => expect(await visible()).toBe(0))
    for (let ended = 0; ended < 12; ended++) {
      await vi.waitFor(() => expect(running().length).toBeGreaterThan(0))
      end(running()[0] ?? '')
    }
    await vi.waitFor(() => expect(running()).toEqual([]))
    expect(started.slice(4).sort()).toEqual(waiting.sort())
  })
})
