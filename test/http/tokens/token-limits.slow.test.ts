import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type ApiClient,
  cursorsOf,
  getExecutionId,
  idsOf,
  readPages,
  waitForExecution,
} from '../../support/service/client.ts'
import { organizationWith } from '../../support/service/organization-with.ts'

/** What requests returned that began and ended in the same second of the clock. */
async function inOneSecond<T>(request: () => Promise<T>): Promise<T> {
  const second = () => Math.floor(Date.now() / 1000)
  return await vi.waitFor(
    async () => {
      const before = second()
      await vi.waitUntil(() => second() > before, { interval: 5 })
      const began = second()
      const returned = await request()
      if (second() !== began) throw new Error('The requests took longer than a second each time.')
      return returned
    },
    { timeout: 40_000 },
  )
}

const org = await organizationWith('echo')

const run = (client: ApiClient, query = '', headers = {}) =>
  client('POST', `/v1/agents/echo/executions${query}`, { body: { text: 'x' }, headers })

it('GET /v1/me returns the limits of a token, also a tenant with any characters', async () => {
  const limits = { scopes: ['read' as const], agents: ['echo'], tenantId: 'Müller, "& 50 %"', rate: 9 }
  const client = await org.withLimits(limits)
  expect((await client('GET', '/v1/me')).json).toMatchObject({ organizationId: org.id, ...limits })
})

it.each(['', '?tenantId=acme'])(
  'a token that is bound to a tenant runs agents as its tenant: %j',
  async (query) => {
    const bound = await org.withLimits({ tenantId: 'acme' })
    const id = getExecutionId(await run(bound, query))
    expect((await org.getExecution(id)).tenantId).toBe('acme')
    expect((await bound('GET', `/v1/agent_executions/${id}`)).status).toBe(200)
  },
)

describe('the cursors of a list', async () => {
  const own = await organizationWith('echo', 'counted')
  const [mine, others]: [string[], string[]] = [[], []]
  beforeAll(async () => {
    for (let round = 0; round < 4; round++) {
      mine.unshift(getExecutionId(await own.run('echo', { text: 'x' }, 'tenantId=mine')))
      for (let n = 0; n < 4; n++)
        others.push(getExecutionId(await own.run('counted', { log: '/dev/null' }, 'tenantId=theirs')))
    }
  })

  it.each<[string, object, string]>([
    ['bound to a tenant', { tenantId: 'mine' }, ''],
    ['limited to two agents', { agents: ['echo', 'three-steps'] }, ''],
    ['limited to two agents, by status', { agents: ['echo', 'three-steps'] }, 'status=SUCCESS&'],
    ['bound to a tenant, by source', { tenantId: 'mine' }, 'source=API&'],
  ])('name no execution that a token may not see: %s', async (_, limits, query) => {
    const client = await own.withLimits(limits)
    for (const limit of [1, 2, 3]) {
      const pages = await readPages(client, `/v1/agent_executions?${query}limit=${limit}`)
      expect(pages.flatMap(({ json }) => idsOf(json))).toEqual(mine)
      for (const id of others) expect(cursorsOf(pages)).not.toContain(id)
    }
  })
})

describe('a token with the scope run alone', async () => {
  const only = await org.withLimits({ scopes: ['run'] })
  const both = await org.withLimits({ scopes: ['run', 'read'] })

  const correction = { rating: -1, correctedOutput: { text: 'theirs' }, note: 'secret' }
  const feedback = (client: ApiClient, path: string, body: object = { rating: 1 }) =>
    client('PUT', `${path}/feedback`, { body })

  it.each(['/v1/agent_executions', '/v1/document_executions'])(
    'learns only the status of what it cancels and rates: %s',
    async (path) => {
      const id = getExecutionId(await run(org.call))
      await feedback(org.call, `${path}/${id}`, correction)
      const state = { id, status: 'SUCCESS' }
      expect((await only('POST', `${path}/${id}/cancel`)).json).toEqual(state)
      expect((await both('POST', `${path}/${id}/cancel`)).json).toEqual(await org.getExecution(id))
      expect((await feedback(only, `${path}/${id}`)).json).toEqual(state)
      expect((await feedback(both, `${path}/${id}`)).json).toEqual(await org.getExecution(id))
      expect((await org.getExecution(id)).feedback).toMatchObject({ rating: 1, note: null })
    },
  )

  it('gets the record of what it starts, and in a repetition no feedback of others', async () => {
    const headers = { 'Idempotency-Key': 'mine' }
    const accepted = await run(only, '?execMode=async', headers)
    expect(accepted.json).toMatchObject({ input: { text: 'x' }, feedback: null })
    const path = `/v1/agent_executions/${getExecutionId(accepted)}`
    await waitForExecution(org.call, getExecutionId(accepted))
    await feedback(org.call, path, correction)
    const repeated = await run(only, '?execMode=async', headers)
    expect(repeated.json).toEqual({ ...(await org.call('GET', path)).json, feedback: null })
    const streamed = await run(only, '?execMode=async', { ...headers, Accept: 'text/event-stream' })
    expect(streamed.text).toContain('event: done')
    expect(streamed.text).not.toContain('theirs')
    expect((await run(both, '?execMode=async', headers)).json.feedback).toMatchObject(correction)
  })
})

it('a token with a rate gets 429 for further requests of a second, and is served again in the next one', async () => {
  const limited = await org.withLimits({ rate: 5 })
  const responses = await inOneSecond(() =>
    Promise.all(Array.from({ length: 15 }, () => limited('GET', '/v1/me'))),
  )
  const rejected = responses.filter(({ status }) => status === 429)
  expect(rejected).toHaveLength(10)
  expect(rejected[0]?.headers.get('retry-after')).toBe('1')
  expect(rejected[0]?.json).toMatchObject({ code: 'TooManyRequests', status: 429 })
  await vi.waitFor(async () => expect((await limited('GET', '/v1/agents')).status).toBe(200), 10_000)
})
