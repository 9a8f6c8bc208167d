import { createHash } from 'node:crypto'
import type { SQSRecord } from 'aws-lambda'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { logger } from '../../lib/logger.ts'
import { openRunQueue, parseRunMessage } from '../../lib/sqs/run-queue.ts'
import { system } from '../../lib/system.ts'
import { startServer } from '../support/service/start-server.ts'

/** The requests to SQS, in order. */
const requests: { action: string; body: ReturnType<typeof JSON.parse> }[] = []
let isRejecting = false
/** The ids of entries of a batch that are not accepted. */
const failing = new Set<string>()
const server = await startServer(async (request, response) => {
  const action = String(request.headers['x-amz-target']).replace('AmazonSQS.', '')
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
  requests.push({ action, body })
  if (isRejecting) {
    const __type = 'com.amazonaws.sqs#KmsAccessDenied'
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify({ __type, message: 'The ciphertext refers to a key that is disabled.' }))
    return
  }
  // The client verifies the checksum.
  const toResult = ({ Id, MessageBody }: Record<string, string>) => ({
    Id,
    MD5OfMessageBody: createHash('md5').update(String(MessageBody)).digest('hex'),
  })
  const failed = body.Entries?.filter(({ Id }: { Id: string }) => failing.has(Id)) ?? []
  const result = body.Entries
    ? {
        Successful: body.Entries.filter((entry: object) => !failed.includes(entry)).map(toResult),
        Failed: failed.map(({ Id }: { Id: string }) => ({ Id, Code: 'InternalFailure', SenderFault: false })),
      }
    : toResult(body)
  response.setHeader('content-type', 'application/x-amz-json-1.0').end(JSON.stringify(result))
})
const environment = { QUEUE_URL: 'http://queue.test/0/runs', SQS_ENDPOINT: server.url }
const open = (more: Record<string, string> = {}) => openRunQueue({ ...environment, ...more })

afterAll(() => server.stop())
beforeEach(() => {
  requests.length = 0
})
afterEach(() => {
  failing.clear()
  isRejecting = false
  vi.restoreAllMocks()
})

const [organizationId, executionId] = [system.newId(), system.newId()]
const aRecord = (queueName: string) => ({
  receiptHandle: 'receipt',
  eventSourceARN: `arn:aws:sqs:eu-west-1:123456789012:${queueName}`,
})
const groupOf = async (organization: string, tenantId: string | null) => {
  await open().send({ executionId, organizationId: organization, tenantId })
  return requests.at(-1)?.body.MessageGroupId
}

it.each([
  ['runs', `${organizationId}.7`],
  ['models', undefined],
])('sendAgain returns a message to its queue, %s, in its group', async (name, MessageGroupId) => {
  const queue = open({ MODEL_QUEUE_URL: 'http://queue.test/0/models' })
  const body = JSON.stringify({ executionId, organizationId, wakes: true, isSuspect: true })
  const attributes = { ApproximateReceiveCount: '3', ...(MessageGroupId && { MessageGroupId }) }
  await queue.sendAgain({ ...aRecord(name), body, attributes } as SQSRecord, 3_500)
  expect(requests.map(({ body }) => body)).toEqual([
    {
      QueueUrl: `http://queue.test/0/${name}`,
      MessageBody: body,
      MessageGroupId: MessageGroupId ?? organizationId,
      DelaySeconds: 4,
    },
  ])
})

describe('a message of the run queue', () => {
  it('contains the ids of the execution, and nothing of its content', async () => {
    await open().send({ executionId, organizationId, tenantId: 'acme' })
    expect(requests[0]).toMatchObject({ action: 'SendMessage', body: { QueueUrl: environment.QUEUE_URL } })
    expect(JSON.parse(requests[0]?.body.MessageBody)).toEqual({ executionId, organizationId })
    expect(parseRunMessage(requests[0]?.body.MessageBody)).toEqual({ executionId, organizationId })
  })

  it.each([
    '',
    'null',
    '[]',
    '{}',
    JSON.stringify({ executionId }),
    JSON.stringify({ executionId, organizationId: 7 }),
    JSON.stringify({ executionId: 'EXEC#1', organizationId }),
    JSON.stringify({ batchId: executionId, organizationId, lane: -1 }),
    JSON.stringify({ agentId: executionId, organizationId, schedule: 'nightly' }),
  ])('is invalid: %s', (body) => {
    expect(() => parseRunMessage(body)).toThrow(/JSON|Invalid run message/)
  })

  it('has the group of its organization and tenant', async () => {
    const groups = [await groupOf(system.newId(), 'acme')]
    for (const tenantId of ['acme', 'globex', null]) groups.push(await groupOf(organizationId, tenantId))
    expect(new Set(groups).size).toBe(4)
    expect(await groupOf(organizationId, 'acme')).toBe(groups[1])
  })

  it('has another group if it is about a line, a batch or a schedule', async () => {
    const queue = open()
    await queue.send({ executionId, organizationId, tenantId: 'acme', isLine: true, wakes: true })
    const batchId = system.newId()
    await queue.feed({ batchId, organizationId })
    await queue.feed({ batchId, organizationId, lane: 0, at: 1, delayMs: 4_200 })
    await queue.fire({ organizationId, agentId: batchId, schedule: 'nightly', at: 1 })
    const groups = requests.map(({ body }) => body.MessageGroupId.replace(`${organizationId}.`, ''))
    expect(groups).toEqual(['batch', 'feed', 'feed', 'schedules'])
    expect(requests.map(({ body }) => parseRunMessage(body.MessageBody))).toEqual([
      { executionId, organizationId, wakes: true, isLine: true },
      { batchId, organizationId },
      { batchId, organizationId, lane: 0, at: 1 },
      { organizationId, agentId: batchId, schedule: 'nightly', at: 1 },
    ])
    expect(requests[2]?.body.DelaySeconds).toBe(5)
  })

  it('has one of 16 groups of its organization, however many tenants the organization names', async () => {
    const groups = new Set<string>()
    for (let i = 0; i < 300; i++) groups.add(await groupOf(organizationId, system.newId()))
    expect(groups.size).toBe(16)
    expect([...groups].every((group) => group.startsWith(organizationId))).toBe(true)
  })

  it.each(['a b', 'ü/…', 'x'.repeat(128), '日本語'.repeat(40)])(
    'has a valid group id for the tenant %s',
    async (tenantId) => {
      expect(await groupOf(organizationId, tenantId)).toMatch(
        /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/,
      )
    },
  )

  it.each([
    [0, 0],
    [1, 1],
    [4_200, 5],
    [10_000_000, 900],
  ])('with a delay of %i ms is delayed by %i seconds, 900 at most', async (delayMs, seconds) => {
    await open().send({ executionId, organizationId, tenantId: null, delayMs })
    expect(requests[0]?.body.DelaySeconds).toBe(seconds)
  })

  it('becomes visible after whole seconds, rounded up', async () => {
    await open().received(aRecord('runs')).changeVisibility(65_001)
    expect(requests[0]).toMatchObject({
      action: 'ChangeMessageVisibility',
      body: { ReceiptHandle: 'receipt', VisibilityTimeout: 66 },
    })
  })
})

describe('the two run queues', () => {
  const modelQueue = 'http://queue.test/0/model-runs'
  const both = () => open({ MODEL_QUEUE_URL: modelQueue })
  const ids = { executionId, organizationId, tenantId: null }

  it.each([
    [true, modelQueue],
    [false, environment.QUEUE_URL],
    [undefined, environment.QUEUE_URL],
  ])('get runs that share a worker (%s) in the queue %s', async (sharesWorker, url) => {
    await both().send({ ...ids, ...(sharesWorker !== undefined && { sharesWorker }) })
    expect(requests[0]?.body.QueueUrl).toBe(url)
  })

  it('are the same one if only one has a URL', async () => {
    await open().send({ ...ids, sharesWorker: true })
    await open().received(aRecord('model-runs')).delete()
    expect(requests.map(({ body }) => body.QueueUrl)).toEqual([environment.QUEUE_URL, environment.QUEUE_URL])
  })

  it.each([
    ['runs', environment.QUEUE_URL],
    ['model-runs', modelQueue],
  ])('change a message in the queue that it was received from: %s', async (name, url) => {
    const message = both().received(aRecord(name))
    await message.changeVisibility(1_000)
    await message.delete()
    expect(requests.map(({ action, body }) => [action, body.QueueUrl, body.ReceiptHandle])).toEqual([
      ['ChangeMessageVisibility', url, 'receipt'],
      ['DeleteMessage', url, 'receipt'],
    ])
  })
})

describe('sendBatch', () => {
  const messages = [0, 4_200, 10_000_000].map((delayMs) => ({
    executionId: system.newId(),
    organizationId,
    tenantId: 'acme',
    wakes: true,
    delayMs,
  }))

  it('sends messages about batches and schedules, too', async () => {
    const feeding = { batchId: system.newId(), organizationId }
    const firing = { organizationId, agentId: system.newId(), schedule: 'nightly', at: 5 }
    await open().sendBatch([feeding, { ...firing, delayMs: 4_200 }, ...messages])
    const { Entries } = requests[0]?.body ?? {}
    expect([Entries[0], Entries[1]].map(({ MessageBody }) => JSON.parse(MessageBody))).toEqual([
      feeding,
      firing,
    ])
    expect(Entries[1].DelaySeconds).toBe(5)
  })

  it('sends the same as single messages, each with its delay, in one request', async () => {
    const queue = open()
    await queue.sendBatch(messages)
    const [batch] = requests.splice(0)
    for (const message of messages) await queue.send(message)
    expect(batch).toMatchObject({ action: 'SendMessageBatch', body: { QueueUrl: environment.QUEUE_URL } })
    expect(batch?.body.Entries).toEqual(
      requests.map(({ body: { QueueUrl, ...entry } }, index) => ({ Id: String(index), ...entry })),
    )
  })

  it.each([
    ['one message', ['1']],
    ['the request', []],
  ])('reports that %s was not accepted', async (_, ids) => {
    const error = vi.spyOn(logger, 'error').mockReturnValue()
    for (const id of ids) failing.add(id)
    isRejecting = ids.length === 0
    await expect(open().sendBatch(messages)).rejects.toThrow(
      ids.length > 0 ? Unavailable : /key that is disabled/,
    )
    const refused = messages.filter((_, index) => isRejecting || ids.includes(String(index)))
    expect(error.mock.calls.map(([, details]) => details)).toMatchObject(
      refused.map(({ executionId }) => ({ executionId })),
    )
  })
})

describe('messages that are sent at the same time', () => {
  it('are requests of at most ten, and each caller learns what became of its own', async () => {
    vi.spyOn(logger, 'error').mockReturnValue()
    failing.add('3')
    const queue = open()
    const ids = Array.from({ length: 25 }, () => system.newId())
    const results = await Promise.allSettled(
      ids.map((id) => queue.send({ executionId: id, organizationId, tenantId: null })),
    )
    expect(requests.map(({ body }) => body.Entries.length)).toEqual([10, 10, 5])
    const sent = requests.flatMap(({ body }) => body.Entries)
    expect(sent.map(({ MessageBody }) => JSON.parse(MessageBody).executionId)).toEqual(ids)
    const rejected = results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))
    expect(rejected).toEqual([3, 13, 23])
  })

  it('go to their own queues', async () => {
    const MODEL_QUEUE_URL = 'http://queue.test/0/model-runs'
    const queue = open({ MODEL_QUEUE_URL })
    const message = { organizationId, tenantId: null }
    const sending = [false, true, true].map((sharesWorker) =>
      queue.send({ ...message, executionId: system.newId(), sharesWorker }),
    )
    await Promise.all(sending)
    expect(requests.map(({ action, body }) => [action, body.QueueUrl]).sort()).toEqual([
      ['SendMessage', environment.QUEUE_URL],
      ['SendMessageBatch', MODEL_QUEUE_URL],
    ])
  })
})

describe('send, when SQS rejects the message', () => {
  beforeEach(() => {
    isRejecting = true
  })
  const send = (more: Record<string, string> = {}) =>
    open(more).send({ executionId, organizationId, tenantId: 'acme' })

  it('logs an error with the ids and the cause, and throws it', async () => {
    const error = vi.spyOn(logger, 'error').mockReturnValue()
    await expect(send()).rejects.toThrow(/a key that is disabled/)
    const cause = { name: 'KmsAccessDenied', message: 'The ciphertext refers to a key that is disabled.' }
    expect(error.mock.calls).toEqual([['message not sent', { executionId, organizationId, cause }]])
  })

  it('publishes the metric EnqueueFailures where metrics are on', async () => {
    vi.spyOn(logger, 'error').mockReturnValue()
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const documents = () =>
      write.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('_aws'))
    await expect(send()).rejects.toThrow()
    expect(documents()).toEqual([])
    await expect(send({ METRICS_NAMESPACE: 'staging' })).rejects.toThrow()
    const [document] = documents().map((text) => JSON.parse(text))
    expect(document).toMatchObject({ EnqueueFailures: 1, executionId, organizationId })
    expect(document._aws.CloudWatchMetrics).toMatchObject([
      { Namespace: 'staging', Dimensions: [[]], Metrics: [{ Name: 'EnqueueFailures', Unit: 'Count' }] },
    ])
  })
})
