import { beforeAll, describe, expect, it, vi } from 'vitest'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import {
  type ApiClient,
  type ApiResponse,
  getExecutionId,
  getNextLink,
} from '../../support/service/client.ts'
import { inOneSecond } from './in-one-second.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  for (const slug of ['echo', 'counted', 'three-steps']) await org.publish(slug)
})

const run = (client: ApiClient, query = '', headers = {}, slug = 'echo') =>
  client('POST', `/v1/agents/${slug}/executions${query}`, { body: { text: 'x' }, headers })
const idsOf = ({ json }: { json: { id: string }[] }) => json.map(({ id }) => id)

describe('GET /v1/me', () => {
  it('returns the organization and all scopes of an unlimited token', async () => {
    expect((await org.call('GET', '/v1/me/')).json).toEqual({
      organizationId: org.id,
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subject: null,
      scopes: ['run', 'read', 'manage', 'review', 'approve'],
      agents: null,
      tenantId: null,
      rate: null,
      limits: null,
    })
  })

  it('returns the limits of a token, also a tenant with any characters', async () => {
    const limits = { scopes: ['read' as const], agents: ['echo'], tenantId: 'Müller, "& 50 %"', rate: 9 }
    const client = await org.withLimits(limits)
    expect((await client('GET', '/v1/me')).json).toMatchObject({ organizationId: org.id, ...limits })
  })

  it('requires a valid token', async () => {
    const response = await org.call('GET', '/v1/me', { headers: { Authorization: 'Bearer none' } })
    expect(response.status).toBe(401)
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

  it.each(['sync', 'async'])('may not name another tenant: %s', async (mode) => {
    expect((await run(bound, `?tenantId=globex&execMode=${mode}`)).json).toMatchObject({
      status: 403,
      code: 'Forbidden',
    })
    expect((await bound('GET', '/v1/agents/echo/executions?tenantId=globex')).status).toBe(403)
    expect((await bound('GET', '/v1/agent_executions?tenantId=')).status).toBe(400)
  })

  it('lists only the executions of its tenant, on every page', async () => {
    const own = [getExecutionId(await run(bound)), getExecutionId(await run(bound))]
    const others = [
      getExecutionId(await run(org.call)),
      getExecutionId(await run(org.call, '?tenantId=globex')),
    ]
    const first = await bound('GET', '/v1/agent_executions?limit=1')
    const next = getNextLink(first) ?? ''
    const ids = [...idsOf(first), ...idsOf(await bound('GET', next))]
    expect(ids).toEqual(own.toReversed())
    const all = idsOf(await bound('GET', '/v1/agents/echo/executions?fields=summary'))
    for (const id of others) expect(all).not.toContain(id)
  })

  it('does not see executions without a tenant', async () => {
    const id = getExecutionId(await run(org.call))
    expect((await bound('GET', `/v1/agent_executions/${id}`)).status).toBe(404)
  })

  it('shares idempotency keys and cached results with no other tenant', async () => {
    const globex = await org.withLimits({ tenantId: 'globex' })
    const headers = { 'Idempotency-Key': 'order 1' }
    const [mine, theirs, again] = [
      await run(bound, '?useCache=true', headers),
      await run(globex, '?useCache=true', headers),
      await run(bound, '?useCache=true', headers),
    ]
    expect([mine.status, theirs.status, again.status]).toEqual([200, 200, 200])
    expect(getExecutionId(theirs)).not.toBe(getExecutionId(mine))
    expect(theirs.headers.get('cache-status')).toContain('fwd=miss')
    expect(getExecutionId(again)).toBe(getExecutionId(mine))
  })
})

describe('a token that is limited to agents', () => {
  it('lists these agents only, page by page', async () => {
    const limited = await org.withLimits({ agents: ['three-steps', 'echo', 'unpublished'] })
    const slugsOf = ({ json }: { json: { slug: string }[] }) => json.map(({ slug }) => slug)
    expect(slugsOf(await limited('GET', '/v1/agents'))).toEqual(['three-steps', 'echo'])
    const first = await limited('GET', '/v1/agents?limit=1')
    const second = await limited('GET', getNextLink(first) ?? '')
    expect([slugsOf(first), slugsOf(second)]).toEqual([['three-steps'], ['echo']])
    expect(getNextLink(second)).toBeUndefined()
  })

  it.each(['slug', 'id', 'id in upper case'])(
    'reaches them by slug and by ID, limited by %s',
    async (kind) => {
      const { json } = await org.call('GET', '/v1/agents/echo')
      const agent = { slug: 'echo', id: json.id, 'id in upper case': json.id.toUpperCase() }[kind]
      const limited = await org.withLimits({ agents: [agent] })
      for (const path of ['echo', json.id, json.id.toUpperCase()])
        expect((await limited('GET', `/v1/agents/${path}`)).status).toBe(200)
      expect((await limited('GET', '/v1/agents/counted')).status).toBe(404)
      expect((await limited('GET', '/v1/agents/Not%20a%20slug')).status).toBe(404)
      expect((await run(limited)).status).toBe(200)
    },
  )

  it.each([[['echo']], [['echo', 'three-steps']]])('lists only executions of %j', async (agents) => {
    const limited = await org.withLimits({ agents })
    const [own, other] = [
      getExecutionId(await run(org.call)),
      getExecutionId(await run(org.call, '', {}, 'counted')),
    ]
    const ids = idsOf(await limited('GET', '/v1/agent_executions?limit=100'))
    expect(ids).toContain(own)
    expect(ids).not.toContain(other)
    expect((await limited('GET', `/v1/agent_executions/${other}`)).status).toBe(404)
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
    ['bound to a tenant, by status', { tenantId: 'mine' }, 'status=SUCCESS&'],
    ['limited to an agent', { agents: ['echo'] }, ''],
    ['limited to two agents', { agents: ['echo', 'three-steps'] }, ''],
    ['limited to two agents, by status', { agents: ['echo', 'three-steps'] }, 'status=SUCCESS&'],
    ['bound to a tenant, by source', { tenantId: 'mine' }, 'source=API&'],
    ['limited to two agents, by source', { agents: ['echo', 'three-steps'] }, 'source=API&'],
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

  it('learns only the status of what it cancels over MCP', async () => {
    const id = getExecutionId(await run(org.call))
    const cancel = async (client: ApiClient) => {
      const params = { name: 'cancel_execution', arguments: { executionId: id } }
      const { text } = await client('POST', '/v1/mcp', modernRequest('tools/call', params))
      return parseMessages(text).at(-1).result
    }
    const { structuredContent, content } = await cancel(only)
    expect([structuredContent, JSON.parse(content[0].text)]).toEqual(Array(2).fill({ id, status: 'SUCCESS' }))
    expect((await cancel(both)).structuredContent).toEqual(await org.getExecution(id))
  })

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

  it('counts the requests of all routes, and those that are forbidden', async () => {
    const limited = await org.withLimits({ rate: 1, scopes: ['read'] })
    const statuses = await vi.waitFor(async () => {
      const responses = await Promise.all([
        ...Array.from({ length: 5 }, () => limited('GET', '/v1/agents')),
        ...Array.from({ length: 5 }, () => run(limited)),
      ])
      const found = responses.map(({ status }) => status)
      expect(found.filter((status) => status !== 429).length).toBeLessThanOrEqual(3)
      return found
    }, 10_000)
    expect(statuses).toContain(429)
  })

  it('does not limit another token', async () => {
    const [limited, other] = [await org.withLimits({ rate: 1 }), await org.withLimits({ rate: 1 })]
    const [first] = await Promise.all([
      other('GET', '/v1/me'),
      ...Array.from({ length: 10 }, () => limited('GET', '/v1/me')),
    ])
    expect(first?.status).toBe(200)
  })
})
