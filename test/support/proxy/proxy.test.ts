import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { sharedTable } from '../engine/organization.ts'
import { sdkConfig } from '../tables/sdk.ts'
import { faultSchedule, inject as injectFault, type ScheduledFault, scheduledFaults } from './faults.ts'
import { type Behavior, type HttpProxy, startProxy } from './start-proxy.ts'

const stops: (() => Promise<void>)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

async function proxyOf(...behaviors: Behavior[]): Promise<HttpProxy> {
  const proxy = await startProxy(inject('dynamodb'), ...behaviors)
  stops.push(proxy.stop)
  return proxy
}

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

describe('scheduledFaults', () => {
  it.each<[ScheduledFault, object]>([
    ['delay', { returned: 1, applied: 1 }],
    ['drop', { returned: 'ECONNRESET', applied: 0 }],
    ['duplicate', { returned: 2, applied: 2 }],
    ['throttle', { returned: 'ProvisionedThroughputExceededException', applied: 0 }],
    ['cut', { returned: 'ECONNRESET', applied: 1 }],
  ])('injects the fault "%s", which the client of the service survives', async (fault, outcome) => {
    const rate = 0.5
    const isWanted = (seed: number) => {
      const next = faultSchedule(seed, 'dynamodb')
      return [next(rate).fault, next(rate).fault, next(rate).fault].join() === [fault, fault, ''].join()
    }
    let seed = 0
    while (!isWanted(seed)) seed++
    const { behavior, counts } = scheduledFaults({ target: 'dynamodb', seed, rate })
    const proxy = await proxyOf(behavior)
    expect(await increment(proxy)).toEqual(outcome)
    await openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }).ping()
    expect(counts).toEqual({ delay: 0, drop: 0, duplicate: 0, throttle: 0, cut: 0, [fault]: 2 })
    expect(proxy.counts.failed).toBe(0)
  })
})

describe('inject', () => {
  it('injects a fault into the requests that a rule selects', async () => {
    const proxy = await proxyOf(
      injectFault(({ operation }) => (operation === 'UpdateItem' ? 'reject' : null)),
    )
    expect(await increment(proxy)).toEqual({ returned: 'ValidationException', applied: 0 })
    await openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }).ping()
    expect(proxy.counts).toMatchObject({ requests: 2, failed: 0 })
  })
})

describe('startProxy', () => {
  it('changes the body of a request, whatever its length', async () => {
    const proxy = await proxyOf((request, next) => {
      const body = Buffer.from(request.body.toString().replace('"N":"1"', '"N":"10000"'))
      return next({ ...request, body })
    })
    expect(await increment(proxy)).toEqual({ returned: 10_000, applied: 10_000 })
  })
})
