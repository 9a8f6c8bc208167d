import { afterAll, describe, expect, inject, it, vi } from 'vitest'
import { createOrganization } from '../support/engine/access.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { sequentialOperations, timeRequests } from '../support/proxy/observe.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { createClient } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { startSqs } from '../support/service/port-emulators.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
const RUN = '/v1/agents/echo/executions'

const log = timeRequests()
const sqs = await startSqs()
const table = await startProxy(inject('dynamodb'), log.behavior)
const queue = await startProxy(sqs.endpoint, log.behavior)
// Its sweeper and the runner of the shared queue must not add requests.
const environment = { DYNAMODB_ENDPOINT: table.url, SQS_ENDPOINT: queue.url, LEASE_SECONDS: '600' }
const { token } = await organizationWith('echo')
const { url } = await services.start(services.newFolder(), environment)
const call = createClient(url, token)
afterAll(async () => {
  for (const each of [table, queue, sqs]) await each.stop()
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
