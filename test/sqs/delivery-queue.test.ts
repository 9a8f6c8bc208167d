import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { logger } from '../../lib/logger.ts'
import { onDeliveryEnqueued, openDeliveryQueue, parseDeliveryMessage } from '../../lib/sqs/delivery-queue.ts'
import { processRecords } from '../../lib/sqs/process-records.ts'
import { onSent } from '../../lib/sqs/send-message.ts'
import { system } from '../../lib/system.ts'
import { provisionQueues } from '../../local/emulators/provision.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { startSqs } from '../support/service/port-emulators.ts'
import { sdkConfig } from '../support/tables/sdk.ts'

const sqs = await startSqs()
const proxy = await startProxy(sqs.endpoint)
const client = new SQSClient(sdkConfig(sqs.endpoint))
const { deliveries: QueueUrl } = await provisionQueues(sqs.endpoint, 'deliveries-test', 60)
const queue = openDeliveryQueue({ DELIVERY_QUEUE_URL: QueueUrl, SQS_ENDPOINT: proxy.url })
afterAll(async () => {
  await proxy.stop()
  await sqs.stop()
})

const executionId = system.newId()
const anEvent = { subject: { kind: 'execution' as const, id: executionId }, organizationId: system.newId() }
const ofBatch = { ...anEvent, subject: { kind: 'batch' as const, id: executionId } }
const anAttempt = { ...anEvent, destinationId: system.newId(), revision: 2 }

async function receive() {
  const received = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }))
  const [{ Body = '', ReceiptHandle } = {}] = received.Messages ?? []
  await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
  return Body
}

/** What the requests to SQS contain: the emulator does not return groups. */
function recordSent() {
  const send = vi.spyOn(SQSClient.prototype, 'send')
  onTestFinished(() => send.mockRestore())
  return () => send.mock.calls.map(([{ input }]) => input as SendMessageCommandInput)
}

describe('openDeliveryQueue', () => {
  it.each([
    [anEvent, anEvent.organizationId],
    [ofBatch, anEvent.organizationId],
    [anAttempt, `${anAttempt.organizationId}.${anAttempt.destinationId}`],
    [{ ...anAttempt, destinationId: 'default' }, `${anAttempt.organizationId}.default`],
  ])('sends %o in the group of its organization, or of its destination', async (message, group) => {
    const sent = recordSent()
    await queue.send(message)
    expect(sent()[0]).toMatchObject({ QueueUrl, MessageGroupId: group, DelaySeconds: 0 })
    expect(parseDeliveryMessage(await receive())).toEqual(message)
  })

  it('sends and reads messages about executions in the form of the previous release', async () => {
    await queue.send(anAttempt)
    const { subject: _, ...others } = anAttempt
    const body = { executionId, ...others }
    expect(JSON.parse(await receive())).toEqual(body)
    expect(parseDeliveryMessage(JSON.stringify(body))).toEqual(anAttempt)
  })

  it('delays a message by 15 minutes at most', async () => {
    const sent = recordSent()
    for (const delayMs of [4_200, 10_000_000]) await queue.send({ ...anEvent, delayMs })
    expect(sent().map(({ DelaySeconds }) => DelaySeconds)).toEqual([5, 900])
  })

  it('tells listeners of this queue about a message that was sent', async () => {
    const [onDelivery, onRun] = [vi.fn(), vi.fn()]
    const stops = [onDeliveryEnqueued(onDelivery), onSent('runs', onRun)]
    await queue.send(anEvent)
    for (const stop of stops) stop()
    await queue.send(anEvent)
    expect([onDelivery.mock.calls.length, onRun.mock.calls.length]).toEqual([1, 0])
  })

  it('logs a message that was not accepted, and tells no listener', async () => {
    const error = vi.spyOn(logger, 'error').mockImplementation(() => undefined)
    const listener = vi.fn()
    const stop = onDeliveryEnqueued(listener)
    const closed = openDeliveryQueue({ DELIVERY_QUEUE_URL: QueueUrl, SQS_ENDPOINT: 'http://127.0.0.1:1' })
    await expect(closed.send(anEvent)).rejects.toBeInstanceOf(Unavailable)
    stop()
    expect(error).toHaveBeenCalledWith('message not sent', expect.objectContaining({ executionId }))
    expect(listener).not.toHaveBeenCalled()
    error.mockRestore()
  })
})

describe('parseDeliveryMessage', () => {
  const { destinationId, revision } = anAttempt

  it.each([
    '',
    'null',
    '{}',
    JSON.stringify({ ...anEvent, organizationId: 7 }),
    JSON.stringify({ ...anEvent, subject: { kind: 'agent', id: executionId } }),
    JSON.stringify({ ...anEvent, subject: { kind: 'batch', id: 'none' } }),
    JSON.stringify({ ...anEvent, executionId: null }),
    JSON.stringify({ ...anEvent, destinationId }),
    JSON.stringify({ ...anEvent, revision }),
    JSON.stringify({ ...anAttempt, destinationId: '' }),
    JSON.stringify({ ...anAttempt, revision: '2' }),
    JSON.stringify({ ...anAttempt, revision: 0.5 }),
  ])('rejects %s', (body) => {
    expect(() => parseDeliveryMessage(body)).toThrow(/JSON|Invalid delivery message/)
  })
})

const event = (bodies: string[]) =>
  ({ Records: bodies.map((body) => ({ messageId: `id of ${body}`, body })) }) as SQSEvent

describe('processRecords', () => {
  const ten = Array.from({ length: 10 }, (_, index) => String(index))

  it('reports the one record of a batch that failed, after it has processed the others', async () => {
    const processed: string[] = []
    const response = await processRecords(event(ten), async ({ body }) => {
      if (body === '3') throw new Error('Retry.')
      await new Promise((resolve) => setImmediate(resolve))
      processed.push(body)
    })
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: 'id of 3' }] })
    expect(processed).toEqual(ten.filter((body) => body !== '3'))
  })

  it('removes the messages that were processed while others are not, and not those that failed', async () => {
    const removed: string[] = []
    const last = Promise.withResolvers<void>()
    const processing = processRecords(
      event(ten),
      async ({ body }) => {
        if (body === '3') throw new Error('Retry.')
        if (body === '9') await last.promise
      },
      async ({ body }) => {
        removed.push(body)
        if (removed.length === 8) last.resolve()
      },
    )
    expect(await processing).toEqual({ batchItemFailures: [{ itemIdentifier: 'id of 3' }] })
    expect(removed).toEqual(ten.filter((body) => body !== '3' && body !== '9'))
  })

  it('reports no record whose message could not be removed', async () => {
    const last = Promise.withResolvers<void>()
    const response = await processRecords(
      event(ten),
      ({ body }) => (body === '9' ? last.promise : Promise.resolve()),
      async ({ body }) => {
        if (body === '8') last.resolve()
        throw new Error('Access denied.')
      },
    )
    expect(response).toEqual({ batchItemFailures: [] })
  })

  it('leaves a single message to Lambda', async () => {
    const remove = () => Promise.reject(new Error('removed'))
    const response = await processRecords(event(['0']), async () => undefined, remove)
    expect(response).toEqual({ batchItemFailures: [] })
  })

  it('reports nothing if every record was processed', async () => {
    expect(await processRecords(event(ten), async () => undefined)).toEqual({ batchItemFailures: [] })
  })
})
