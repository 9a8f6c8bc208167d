import { setTimeout } from 'node:timers/promises'
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openRunQueue, parseRunMessage } from '../../../lib/sqs/run-queue.ts'
import { system } from '../../../lib/system.ts'
import { provisionQueues } from '../../../local/emulators/provision.ts'
import { startSqs } from '../../../local/emulators/start-emulators.ts'
import { startPoller } from '../../../local/runner/poller.ts'
import { type FaultProxy, startFaultProxy } from '../../faults/fault-proxy.ts'
import { sdkConfig } from '../../support/sdk.ts'

let sqs: Awaited<ReturnType<typeof startSqs>>
let proxy: FaultProxy
beforeAll(async () => {
  sqs = await startSqs()
  proxy = await startFaultProxy({ target: sqs.endpoint, kind: 'sqs', seed: 0, rate: 0 })
})
afterAll(async () => {
  await proxy.stop()
  await sqs.stop()
})

const MESSAGES = 25
const SUCCESS = { batchItemFailures: [] }

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
    processed.add(parseRunMessage(record?.body ?? '').executionId)
    return processed.size <= fails
      ? { batchItemFailures: [{ itemIdentifier: record?.messageId ?? '' }] }
      : SUCCESS
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const poller = startPoller({ endpoint: proxy.url, queueUrl, handler, concurrency, onError })
  await vi.waitFor(() => expect(processed.size).toBe(MESSAGES), { timeout: 30_000 })
  await poller.stop()
  const client = new SQSClient(sdkConfig(sqs.endpoint))
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  )
  return {
    left:
      Number(Attributes?.ApproximateNumberOfMessages) +
      Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
    requests: (operation: string) => (proxy.counts.operations[operation] ?? 0) - (before[operation] ?? 0),
    maxInProcess: inProcess.max,
    errors,
  }
}

describe('startPoller', () => {
  it('deletes processed messages in batches, the last ones before it stops', async () => {
    const { left, requests, errors } = await poll()
    expect({ left, errors }).toEqual({ left: 0, errors: [] })
    expect(requests('DeleteMessage')).toBe(0)
    expect(requests('DeleteMessageBatch')).toBeLessThan(MESSAGES / 2)
  })

  it('receives ten messages at a time', async () => {
    const { requests } = await poll()
    expect(requests('ReceiveMessage')).toBeLessThan(MESSAGES / 2)
  })

  it('keeps the messages that failed', async () => {
    expect((await poll({ fails: 3 })).left).toBe(3)
  })

  it('processes no more messages at a time than it may', async () => {
    const { left, errors, maxInProcess } = await poll({ concurrency: 2 })
    expect({ left, errors }).toEqual({ left: 0, errors: [] })
    expect(maxInProcess).toBeLessThanOrEqual(2)
  })
})
