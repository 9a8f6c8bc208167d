import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { openRunQueue } from '../../../lib/sqs/run-queue.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE, provisionQueues } from '../../../local/emulators/provision.ts'
import { sharedTable } from '../engine/organization.ts'
import { startSqs } from '../service/port-emulators.ts'
import { sdkConfig } from '../tables/sdk.ts'
import { faultSchedule, type ScheduledFault, scheduledFaults } from './fault-schedule.ts'
import { delay, type FaultName, inject as injectFault } from './faults.ts'
import { type Behavior, type HttpProxy, type ProxyRequest, startProxy } from './start-proxy.ts'

type Kind = 'dynamodb' | 'sqs'

const stops: (() => Promise<void> | void)[] = []
let sqs: Awaited<ReturnType<typeof startSqs>>
beforeAll(async () => {
  sqs = await startSqs()
  stops.push(sqs.stop)
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

/** A proxy that injects this fault into its first request and none into its second. */
async function proxyWith(kind: Kind, fault: ScheduledFault) {
  const rate = 0.5
  const isWanted = (seed: number) => {
    const next = faultSchedule(seed, kind)
    return next(rate).fault === fault && next(rate).fault === null
  }
  let seed = 0
  while (!isWanted(seed)) seed++
  const scheduled = scheduledFaults({ target: kind, seed, rate })
  return { proxy: await proxyOf(kind, scheduled.behavior), faults: scheduled.counts }
}

async function proxyOf(kind: Kind, ...behaviors: Behavior[]): Promise<HttpProxy> {
  const proxy = await startProxy(kind === 'dynamodb' ? inject('dynamodb') : sqs.endpoint, ...behaviors)
  stops.push(proxy.stop)
  return proxy
}

const newQueue = () => provisionQueues(sqs.endpoint, `faults-${system.newId()}`, 60).then(({ runs }) => runs)

/** Increments a counter through the proxy, without retries. `applied` is the value stored in the end. */
async function increment(proxy: HttpProxy) {
  const id = system.newId()
  const client = new DynamoDBClient({ ...sdkConfig(proxy.url), maxAttempts: 1 })
  const response = client.send(
    new UpdateItemCommand({
      TableName: LOCAL_TABLE,
      Key: { pk: { S: id }, sk: { S: 'COUNT' } },
      UpdateExpression: 'ADD applied :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
      ReturnValues: 'ALL_NEW',
    }),
  )
  const returned = await response.then(
    ({ Attributes }) => Number(Attributes?.applied?.N),
    (error: Error & { code?: string }) => error.code ?? error.name,
  )
  const item = await sharedTable().get({ pk: id, sk: 'COUNT' }, { consistent: true })
  return { returned, applied: Number(item?.applied ?? 0) }
}

/** Sends a message through the proxy, without retries. `applied` is the number of messages in the queue. */
async function sendMessage(proxy: HttpProxy) {
  const QueueUrl = await newQueue()
  const client = new SQSClient({ ...sdkConfig(proxy.url), maxAttempts: 1 })
  const returned = await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' })).then(
    ({ MessageId }) => (MessageId ? 'sent' : 'nothing'),
    (error: Error & { code?: string }) => error.code ?? error.name,
  )
  const direct = new SQSClient(sdkConfig(sqs.endpoint))
  const received = await direct.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
  direct.destroy()
  return { returned, applied: received.Messages?.length ?? 0 }
}

const THROTTLING = { dynamodb: 'ProvisionedThroughputExceededException', sqs: 'ServiceUnavailable' }

describe.each([
  ['dynamodb', increment, [1, 2]],
  ['sqs', sendMessage, ['sent', 'sent']],
] as const)('scheduledFaults of %s', (kind, request, [once, twice]) => {
  it.each<[ScheduledFault, { returned: unknown; applied: number }]>([
    ['delay', { returned: once, applied: 1 }],
    ['drop', { returned: 'ECONNRESET', applied: 0 }],
    ['duplicate', { returned: twice, applied: 2 }],
    ['throttle', { returned: THROTTLING[kind], applied: 0 }],
    ['cut', { returned: 'ECONNRESET', applied: 1 }],
  ])('injects the fault "%s"', async (fault, outcome) => {
    const { proxy, faults } = await proxyWith(kind, fault)
    expect(await request(proxy)).toEqual(outcome)
    const none = { delay: 0, drop: 0, duplicate: 0, throttle: 0, cut: 0 }
    expect(faults).toEqual({ ...none, [fault]: 1 })
    expect(proxy.counts).toMatchObject({ requests: 1, failed: 0 })
  })

  it('delays every request by the latency', async () => {
    const proxy = await proxyOf(kind)
    const latencyMs = 200
    proxy.use(delay(latencyMs))
    const startedAt = performance.now()
    expect(await request(proxy)).toEqual({ returned: once, applied: 1 })
    // A timer may fire up to a millisecond early.
    expect((performance.now() - startedAt) / latencyMs).toBeGreaterThan(0.99)
    expect(proxy.counts).toMatchObject({ requests: 1, failed: 0 })
  })

  it.each(['drop', 'throttle', 'cut'] as const)(
    'injects "%s" so that the service’s own client retries',
    async (fault) => {
      const { proxy } = await proxyWith(kind, fault)
      if (kind === 'dynamodb') {
        await openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }).ping()
      } else {
        const queue = openRunQueue({ QUEUE_URL: await newQueue(), SQS_ENDPOINT: proxy.url })
        await queue.send({ executionId: system.newId(), organizationId: system.newId(), tenantId: null })
      }
      expect(proxy.counts.requests).toBe(2)
    },
  )
})

describe('inject', () => {
  const onItem = (request: ProxyRequest) => request.operation === 'UpdateItem'
  it.each<[FaultName, unknown, number]>([
    ['throttle', 'ProvisionedThroughputExceededException', 0],
    ['reject', 'ValidationException', 0],
    ['drop', 'ECONNRESET', 0],
    ['cut', 'ECONNRESET', 1],
  ])('injects "%s" into the requests that a rule selects', async (fault, returned, applied) => {
    const behavior = injectFault((request) => (onItem(request) ? fault : null))
    const proxy = await proxyOf('dynamodb', behavior)
    expect(await increment(proxy)).toEqual({ returned, applied })
    await openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }).ping()
    expect(proxy.counts).toMatchObject({ requests: 2, failed: 0 })
  })

  it('leaves a request without a response until its client gives up', async () => {
    const received = Promise.withResolvers<void>()
    const hang = injectFault(() => {
      received.resolve()
      return 'hang'
    })
    const proxy = await proxyOf('dynamodb', hang)
    const giveUp = new AbortController()
    const response = fetch(proxy.url, { method: 'POST', body: '{}', signal: giveUp.signal })
    await received.promise
    giveUp.abort()
    await expect(response).rejects.toThrow('aborted')
    expect(proxy.counts).toMatchObject({ requests: 1, failed: 0 })
  })
})

describe('startProxy', () => {
  it('tells clients apart by their URL', async () => {
    const clients: string[] = []
    const proxy = await proxyOf('dynamodb', (request, next) => {
      clients.push(request.client)
      return next(request)
    })
    for (const url of [await proxy.urlFor('runner-a'), proxy.url])
      await openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: url }).ping()
    expect(clients).toEqual(['runner-a', ''])
  })

  it('changes the body of a request, whatever its length', async () => {
    const proxy = await proxyOf('dynamodb', (request, next) => {
      const body = Buffer.from(request.body.toString().replace('"N":"1"', '"N":"10000"'))
      return next({ ...request, body })
    })
    expect(await increment(proxy)).toEqual({ returned: 10_000, applied: 10_000 })
  })
})

describe('scheduledFaults of the service', () => {
  /** So many different outcomes (statuses, or why there is no response), and the requests that the service received. */
  async function send(fault: ScheduledFault, different = 1) {
    let applied = 0
    const server = createServer((_, response) => {
      applied++
      response.end('"a response that is long enough to be cut"')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => void server.close())
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const outcomes = new Set<unknown>()
    for (let seed = 0; outcomes.size < different; seed++) {
      if (faultSchedule(seed, 'service')(1).fault !== fault) continue
      const proxy = await startProxy(target, scheduledFaults({ target: 'service', seed, rate: 1 }).behavior)
      stops.push(proxy.stop)
      const text = fetch(proxy.url).then(async (response) => [response.status, await response.text()])
      outcomes.add(
        await text.then(
          ([status]) => status,
          (error: Error) => error.message,
        ),
      )
      expect(proxy.counts).toMatchObject({ requests: 1, failed: 0, operations: { GET: 1 } })
    }
    return { outcomes: [...outcomes].sort(), applied }
  }

  it.each<[ScheduledFault, number, unknown[]]>([
    ['delay', 1, [200]],
    ['drop', 0, ['fetch failed']],
    ['duplicate', 2, [200]],
  ])('injects the fault "%s"', async (fault, applied, outcomes) => {
    expect(await send(fault)).toEqual({ outcomes, applied })
  })

  it('throttles with every status that clients retry', async () => {
    expect(await send('throttle', 4)).toEqual({ outcomes: [408, 429, 502, 503], applied: 0 })
  })

  it('cuts before the response and in its body', async () => {
    expect((await send('cut', 2)).outcomes).toEqual(['fetch failed', 'terminated'])
  })
})
