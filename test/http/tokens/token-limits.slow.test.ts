import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import {
  type ApiClient,
  type ApiResponse,
  getExecutionId,
  getNextLink,
} from '../../support/service/client.ts'

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

const org = await organizationWith('echo', 'counted', 'three-steps')

const run = (client: ApiClient, query = '', headers = {}, slug = 'echo') =>
  client('POST', `/v1/agents/${slug}/executions${query}`, { body: { text: 'x' }, headers })
const idsOf = ({ json }: { json: { id: string }[] }) => json.map(({ id }) => id)

describe('GET /v1/me', () => {
  it('returns the limits of a token, also a tenant with any characters', async () => {
    const limits = { scopes: ['read' as const], agents: ['echo'], tenantId: 'Müller, "& 50 %"', rate: 9 }
    const client = await org.withLimits(limits)
    expect((await client('GET', '/v1/me')).json).toMatchObject({ organizationId: org.id, ...limits })
  })
})

describe('a token that is bound to a tenant', () => {
  let bound: ApiClient
  beforeAll(async () => {
    bound = await org.withLimits({ tenantId: 'acme' })
  })

  it.each(['', '?tenantId=acme'])('runs agents as its tenant: %j', async (query) => {
    const id = getExecutionId(await run(bound, query))
    expect((await org.getExecution(id)).tenantId).toBe('acme')
    expect((await bound('GET', `/v1/agent_executions/${id}`)).status).toBe(200)
  })
})

describe('the cursors of a list', () => {
  /** What a client can read in a link: the cursor as text and decoded. */
  const read = (link: string) => {
    const cursor = new URL(link, 'http://x').searchParams.get('cursor') ?? ''
    return `${link} ${Buffer.from(cursor, 'base64url')}`
  }

  let own: TestOrganization
  const [mine, others]: [string[], string[]] = [[], []]
  beforeAll(async () => {
    own = await newOrganization()
    for (const slug of ['echo', 'counted']) await own.publish(slug)
    const start = (slug: string, tenant: string) =>
      own.call('POST', `/v1/agents/${slug}/executions?tenantId=${tenant}`, {
        body: slug === 'echo' ? { text: 'x' } : { log: '/dev/null' },
      })
    for (let round = 0; round < 4; round++) {
      mine.unshift(getExecutionId(await start('echo', 'mine')))
      for (let n = 0; n < 4; n++) others.push(getExecutionId(await start('counted', 'theirs')))
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
      const seen: string[] = []
      let link: string | undefined = `/v1/agent_executions?${query}limit=${limit}`
      while (link) {
        const page: ApiResponse = await client('GET', link)
        seen.push(...idsOf(page))
        link = getNextLink(page)
        for (const id of others) expect(read(link ?? '')).not.toContain(id)
      }
      expect(seen).toEqual(mine)
    }
  })
})

describe('a token with the scope run alone', () => {
  let only: ApiClient
  let both: ApiClient
  beforeAll(async () => {
    only = await org.withLimits({ scopes: ['run'] })
    both = await org.withLimits({ scopes: ['run', 'read'] })
  })

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
    await org.call('GET', path, { headers: { Prefer: 'wait=20' } })
    await feedback(org.call, path, correction)
    const repeated = await run(only, '?execMode=async', headers)
    expect(repeated.json).toEqual({ ...(await org.call('GET', path)).json, feedback: null })
    const streamed = await run(only, '?execMode=async', { ...headers, Accept: 'text/event-stream' })
    expect(streamed.text).toContain('event: done')
    expect(streamed.text).not.toContain('theirs')
    expect((await run(both, '?execMode=async', headers)).json.feedback).toMatchObject(correction)
  })
})

describe('a token with a rate', () => {
  it('gets 429 for further requests of a second, and is served again in the next one', async () => {
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
})
