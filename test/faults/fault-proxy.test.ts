import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../lib/dynamodb/table.ts'
import { openRunQueue } from '../../lib/sqs/run-queue.ts'
import { system } from '../../lib/system.ts'
import type { Emulator } from '../../local/dynamodb.ts'
import { LOCAL_TABLE } from '../../local/open-store.ts'
import { provisionQueues } from '../../local/provision.ts'
import { startSqs } from '../../local/sqs.ts'
import { until } from '../../local/until.ts'
import { sharedTable } from '../support/organization.ts'
import { sdkConfig, sqsSdkConfig } from '../support/sdk.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type Fault, faultSchedule } from './fault-schedule.ts'

type Kind = 'dynamodb' | 'sqs'

const stops: (() => Promise<void> | void)[] = []
let sqs: Emulator
beforeAll(async () => {
  sqs = await startSqs()
  stops.push(sqs.stop)
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

const targetOf = (kind: Kind) => (kind === 'dynamodb' ? inject('dynamodb') : sqs.endpoint)

async function aProxy(kind: Kind, seed = 1, target = targetOf(kind)): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ target, kind, seed, rate: 0 })
  stops.push(proxy.stop)
  return proxy
}

/** A proxy whose first request meets this fault, and whose second meets none. */
async function proxyWith(kind: Kind, fault: Fault): Promise<FaultProxy> {
  const rate = 0.5
  const isMeant = (seed: number) => {
    const next = faultSchedule(seed, kind)
    return next(rate).fault === fault && next(rate).fault === null
  }
  let seed = 0
  while (!isMeant(seed)) seed++
  const proxy = await aProxy(kind, seed)
  proxy.setRate(rate)
  return proxy
}

/** Both ask only once, so that a test sees each fault. */
const dynamodbClient = (proxy: FaultProxy) => new DynamoDBClient({ ...sdkConfig(proxy.url), maxAttempts: 1 })
const sqsClient = (proxy: FaultProxy) => new SQSClient({ ...sqsSdkConfig(proxy.url), maxAttempts: 1 })

const aQueue = (endpoint = sqs.endpoint) =>
  provisionQueues(endpoint, `faults-${system.newId()}`, 60).then(({ runs }) => runs)
const aMessage = () => ({ executionId: system.newId(), organizationId: system.newId(), tenantId: null })

/** The service's own queue, as it reaches it through a proxy. */
const queueThrough = (proxy: FaultProxy, queueUrl: string) =>
  openRunQueue({ QUEUE_URL: queueUrl, SQS_ENDPOINT: proxy.url })

/** Adds one to a counter through the proxy: how often it was carried out can be read. */
async function countUp(proxy: FaultProxy) {
  const id = system.newId()
  const answer = dynamodbClient(proxy).send(
    new UpdateItemCommand({
      TableName: LOCAL_TABLE,
      Key: { pk: { S: id }, sk: { S: 'COUNT' } },
      UpdateExpression: 'ADD carriedOut :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
      ReturnValues: 'ALL_NEW',
    }),
  )
  const seen = await answer.then(
    ({ Attributes }) => Number(Attributes?.carriedOut?.N),
    (error: Error & { code?: string }) => error.code ?? error.name,
  )
  const item = await sharedTable().get({ pk: id, sk: 'COUNT' }, { consistent: true })
  return { seen, carriedOut: Number(item?.carriedOut ?? 0) }
}

/** Sends one message through the proxy, and counts how many have arrived. */
async function sendOne(proxy: FaultProxy) {
  const QueueUrl = await aQueue()
  const answer = sqsClient(proxy).send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }))
  const seen = await answer.then(
    ({ MessageId }) => (MessageId ? 'sent' : 'nothing'),
    (error: Error & { code?: string }) => error.code ?? error.name,
  )
  const direct = new SQSClient(sqsSdkConfig(sqs.endpoint))
  const received = await direct.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
  direct.destroy()
  return { seen, carriedOut: received.Messages?.length ?? 0 }
}

const THROTTLED = { dynamodb: 'ProvisionedThroughputExceededException', sqs: 'ServiceUnavailable' }

describe.each([
  ['dynamodb', countUp, [1, 2]],
  ['sqs', sendOne, ['sent', 'sent']],
] as const)('a fault before %s', (kind, ask, [once, twice]) => {
  it.each<[Fault, { seen: unknown; carriedOut: number }]>([
    ['delay', { seen: once, carriedOut: 1 }],
    ['drop', { seen: 'ECONNRESET', carriedOut: 0 }],
    ['duplicate', { seen: twice, carriedOut: 2 }],
    ['throttle', { seen: THROTTLED[kind], carriedOut: 0 }],
    ['cut', { seen: 'ECONNRESET', carriedOut: 1 }],
  ])('%s', async (fault, outcome) => {
    const proxy = await proxyWith(kind, fault)
    expect(await ask(proxy)).toEqual(outcome)
    const none = { delay: 0, drop: 0, duplicate: 0, throttle: 0, cut: 0 }
    expect(proxy.counts).toMatchObject({ requests: 1, faults: { ...none, [fault]: 1 }, broken: 0 })
  })

  it.each(['drop', 'throttle', 'cut'] as const)(
    '%s is made good by the SDK, which asks again',
    async (fault) => {
      const proxy = await proxyWith(kind, fault)
      if (kind === 'dynamodb')
        await openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }).ping()
      else await queueThrough(proxy, await aQueue()).send(aMessage())
      expect(proxy.counts.requests).toBe(2)
    },
  )
})

describe('a proxy at rate 0', () => {
  it('passes 5 MB of binary data through, both ways', async () => {
    const proxy = await aProxy('dynamodb')
    const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
    const pk = system.newId()
    const items = Array.from({ length: 14 }, (_, i) => ({
      pk,
      sk: `CHUNK#${i}`,
      data: new Uint8Array(380_000).map((_, byte) => (byte * 31 + i) % 256),
    }))
    const keys = items.map(({ pk, sk }) => ({ pk, sk }))
    await table.writeMany(items.map((put) => ({ put })))
    expect(await table.getMany(keys, { consistent: true })).toEqual(items)
    expect(proxy.counts.operations).toMatchObject({ BatchWriteItem: 1 })
  })

  it('hands a message to the long poll that waits for it', async () => {
    const proxy = await aProxy('sqs')
    const QueueUrl = await aQueue(proxy.url)
    const client = sqsClient(proxy)
    const polling = client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }))
    await until(() => proxy.counts.operations.ReceiveMessage === 1, { what: 'the poll', limitMs: 10_000 })
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'waited for' }))
    expect((await polling).Messages?.[0]?.Body).toBe('waited for')
  })

  it('is passed by no call of the run queue, whoever the address of the queue names', async () => {
    const proxy = await aProxy('sqs')
    for (const endpoint of [proxy.url, sqs.endpoint]) {
      const url = await aQueue(endpoint)
      expect(url).toContain(new URL(endpoint).port)
      const before = proxy.counts.requests
      await queueThrough(proxy, url).send(aMessage())
      expect(proxy.counts.requests - before).toBe(1)
    }
  })
})

describe('a long poll', () => {
  it('ends at the emulator when its client goes away', async () => {
    let [polls, ended] = [0, 0]
    const emulator = createServer((request) => {
      polls++
      request.socket.once('close', () => ended++)
    })
    await new Promise<void>((resolve) => emulator.listen(0, '127.0.0.1', resolve))
    stops.push(() => void emulator.close())
    const target = `http://127.0.0.1:${(emulator.address() as AddressInfo).port}`
    const proxy = await aProxy('sqs', 1, target)
    const leaving = new AbortController()
    const polling = sqsClient(proxy).send(new ReceiveMessageCommand({ QueueUrl: `${target}/0/q` }), {
      abortSignal: leaving.signal,
    })
    const refused = expect(polling).rejects.toThrow(/abort/i)
    await until(() => polls === 1, { what: 'the poll', limitMs: 10_000 })
    leaving.abort()
    await refused
    await until(() => ended === 1, { what: 'the poll to end', limitMs: 10_000 })
    expect(proxy.counts.broken).toBe(0)
  })

  it('is never carried out twice', async () => {
    const proxy = await proxyWith('sqs', 'duplicate')
    const QueueUrl = await aQueue()
    await openRunQueue({ QUEUE_URL: QueueUrl, SQS_ENDPOINT: sqs.endpoint }).send(aMessage())
    const answer = await sqsClient(proxy).send(new ReceiveMessageCommand({ QueueUrl }))
    expect(answer.Messages).toHaveLength(1)
    expect(proxy.counts.faults.duplicate).toBe(0)
  })
})
