import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createOrganization } from '../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { sequentialOperations, timeRequests } from '../support/proxy/observe.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { type ApiClient, createClient } from '../support/service/client.ts'
import { startSqs } from '../support/service/port-emulators.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
const RUN = '/v1/agents/echo/executions'

let stops: (() => unknown)[]
const log = timeRequests()
let organization: TestOrganization
let url: string
let call: ApiClient

beforeAll(async () => {
  const sqs = await startSqs()
  const table = await startProxy(inject('dynamodb'), log.behavior)
  const queue = await startProxy(sqs.endpoint, log.behavior)
  stops = [table.stop, queue.stop, sqs.stop]
  // Its sweeper and the runner of the shared queue must not add requests.
  const environment = { DYNAMODB_ENDPOINT: table.url, SQS_ENDPOINT: queue.url, LEASE_SECONDS: '600' }
  organization = await newOrganization()
  await organization.publish('echo')
  url = (await services.start(services.newFolder(), environment)).url
  call = createClient(url, organization.token)
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

const run = (text: string, query = '') => call('POST', `${RUN}${query}`, { body: { text } })

/** What a request costs after `warmUp`, which caches the token and, for a second, the version of the agent. */
const expectSequential = (warmUp: () => Promise<unknown>, work: () => Promise<unknown>, expected: string[]) =>
  vi.waitFor(
    async () => {
      await warmUp()
      log.take()
      await work()
      expect(sequentialOperations(log.take())).toEqual(expected)
    },
    { timeout: 20_000, interval: 10 },
  )

describe('requests to the table and the queue that follow one another', () => {
  const warmUp = () => run('warm')

  it('are one for the authorizer, with a token that is not cached, and another once an hour', async () => {
    const { token } = await createOrganization(sharedTable())
    const unknown = '/v1/agent_executions/00000000-0000-7000-8000-000000000000'
    const stranger = createClient(url, token)
    log.take()
    await stranger('GET', unknown)
    // The write records the hour of the last use.
    expect(sequentialOperations(log.take())).toEqual(['GetItem', 'UpdateItem', 'GetItem'])
    const authorized = async () => {
      log.take()
      await stranger('GET', unknown)
      expect(sequentialOperations(log.take())).toEqual(['GetItem', 'GetItem'])
    }
    // Once the gateway has forgotten the token.
    await vi.waitFor(authorized, { interval: 300 })
    const read = () => stranger('GET', unknown)
    await expectSequential(read, read, ['GetItem'])
  })

  it('are two for a synchronous run', async () => {
    await expectSequential(warmUp, () => run('x'), ['PutItem', 'UpdateItem'])
  })

  it('are two for a cache hit', async () => {
    const cached = () => run('cached', '?useCache=true')
    await cached()
    await expectSequential(warmUp, cached, ['GetItem', 'PutItem'])
  })

  it('are two to accept an asynchronous run', async () => {
    // The runner starts with the first one, after the response.
    await warmUp()
    log.take()
    expect((await run('x', '?execMode=async')).status).toBe(202)
    expect(sequentialOperations(log.take()).slice(-2)).toEqual(['PutItem', 'SendMessage'])
  })
})
