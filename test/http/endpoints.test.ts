import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { getOperation, type Route, routes } from '../../lib/api/routes.ts'
import { agentRecord, versionRecord } from '../../lib/api/schemas/agent-record.ts'
import { executionRecord, stepRecord } from '../../lib/api/schemas/execution-record.ts'
import { meRecord } from '../../lib/api/schemas/records.ts'
import type { Version } from '../../lib/core/agent.ts'
import { modernRequest } from '../mcp/messages.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { createClient, getExecutionId, getNextLink, waitForExecution } from '../support/service/client.ts'

let org: TestOrganization
let echo: Version
let executionId: string

beforeAll(async () => {
  org = await newOrganization()
  echo = await org.publish('echo')
  await org.publish('failing')
  executionId = getExecutionId(await org.run('echo', { text: 'first' }))
})

/** A path of agents and its mirror for documents, each with and without a trailing slash. */
const variants = (path: string) =>
  [path, path.replace('/v1/agent', '/v1/document')].flatMap((p) => [p, `${p}/`])

describe('GET /v1/healthcheck', () => {
  it.each(['/v1/healthcheck', '/v1/healthcheck/', '/v1/healthcheck?x=1&x=2&='])(
    '%s responds without a token',
    async (path) => {
      const response = await createClient(inject('service'), null)('GET', path)
      expect(response.status).toBe(200)
      expect(response.json).toEqual({ success: true })
    },
  )
})

// Its limits are tested in tokens/token-limits.slow.test.ts.
describe('GET /v1/me', () => {
  it.each(['/v1/me', '/v1/me/'])('%s returns the organization of the token', async (path) => {
    const { status, json } = await org.call('GET', path)
    expect(status).toBe(200)
    expect(meRecord.strict().safeParse(json).error).toBeUndefined()
    expect(json).toMatchObject({ organizationId: org.id, subject: null })
  })
})

// Its content is tested in methods.test.ts.
describe('GET /v1/openapi.json', () => {
  it('responds without a token', async () => {
    const { status, json } = await createClient(inject('service'), null)('GET', '/v1/openapi.json')
    expect([status, json.openapi]).toEqual([200, '3.1.0'])
  })
})

describe('GET agents', () => {
  it.each(variants('/v1/agents'))('%s lists the agents, newest first', async (path) => {
    const { status, json } = await org.call('GET', path)
    expect(status).toBe(200)
    expect(json.map((agent: { slug: string }) => agent.slug)).toEqual(['failing', 'echo'])
    for (const agent of json) expect(agentRecord.strict().safeParse(agent).error).toBeUndefined()
  })

  it.each([...variants('/v1/agents/echo')])('%s returns the agent with this slug', async (path) => {
    const { status, json } = await org.call('GET', path)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      id: echo.agentId,
      orgId: org.id,
      slug: 'echo',
      title: 'Echo',
      description: 'Returns its input.',
      currentVersionId: echo.id,
      draftVersionId: null,
      draftVersionStatus: null,
      inputSchema: { text: { type: 'string', description: 'Any text.' } },
    })
  })

  it('returns the same bytes for a UUID, in either case, as for the slug', async () => {
    const bySlug = await org.call('GET', '/v1/agents/echo')
    const byId = await org.call('GET', `/v1/documents/${echo.agentId}`)
    const byUpperCase = await org.call('GET', `/v1/agents/${echo.agentId.toUpperCase()}`)
    expect(byId.text).toBe(bySlug.text)
    expect(byUpperCase.text).toBe(bySlug.text)
  })

  it.each(variants('/v1/agents/echo/versions'))('%s lists the versions', async (path) => {
    const { status, json } = await org.call('GET', path)
    expect(status).toBe(200)
    expect(json).toHaveLength(1)
    expect(versionRecord.strict().safeParse(json[0]).error).toBeUndefined()
    expect(json[0]).toMatchObject({ id: echo.id, documentId: echo.agentId, status: 'PUBLISHED' })
  })
})

describe('POST executions', () => {
  it.each(variants('/v1/agents/echo/executions'))(
    '%s returns the bare output of a synchronous run',
    async (path) => {
      const response = await org.call('POST', path, { body: { text: 'hello' } })
      expect(response.status).toBe(200)
      expect(response.json).toEqual({ text: 'hello' })
      expect(response.headers.get('content-type')).toBe('application/json')
      const id = getExecutionId(response)
      expect(response.headers.get('location')).toBe(`/v1/agent_executions/${id}`)
    },
  )

  it.each(variants('/v1/agents/echo/executions'))(
    '%s returns the record of an asynchronous run at once',
    async (path) => {
      const response = await org.call('POST', `${path}?execMode=async&tenantId=acme`, {
        body: { text: 'later' },
      })
      expect(response.status).toBe(202)
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(response.headers.get('location')).toBe(`/v1/agent_executions/${response.json.id}`)
      expect(executionRecord.strict().safeParse(response.json).error).toBeUndefined()
      expect(response.json).toMatchObject({
        documentId: echo.agentId,
        versionId: echo.id,
        tenantId: 'acme',
        status: 'IN_PROGRESS',
        source: 'API',
        input: { text: 'later' },
        output: null,
        error: null,
        cached: false,
        finishedAt: null,
      })
      expect(response.json).not.toHaveProperty('cachedDocumentExecutionId')
      const ended = await waitForExecution(org.call, response.json.id)
      expect(ended).toMatchObject({ status: 'SUCCESS', output: { text: 'later' }, error: null })
      expect(Date.parse(ended.finishedAt)).toBeGreaterThanOrEqual(Date.parse(ended.startedAt))
    },
  )

  it('runs the requested version, also a draft; by default the current one', async () => {
    const other = await newOrganization()
    const first = await other.publish('echo')
    const draft = await other.publish('echo', { draft: true })
    const second = await other.publish('echo', { title: 'Second' })
    const versionRun = async (query: string) => {
      const response = await other.run('echo', { text: 'x' }, query)
      return (await other.getExecution(getExecutionId(response))).versionId
    }
    expect(await versionRun('')).toBe(second.id)
    expect(await versionRun(`version=${first.id}`)).toBe(first.id)
    expect(await versionRun(`version=${draft.id.toUpperCase()}`)).toBe(draft.id)
    const { json } = await other.call('GET', '/v1/agents/echo/versions')
    expect(json.map((version: { id: string }) => version.id)).toEqual([second.id, draft.id, first.id])
  })

  it('does not run an agent that has only a draft, unless the draft is requested', async () => {
    const other = await newOrganization()
    const draft = await other.publish('echo', { draft: true })
    const { json: agent } = await other.call('GET', '/v1/agents/echo')
    expect(agent).toMatchObject({
      currentVersionId: null,
      draftVersionId: draft.id,
      draftVersionStatus: 'DRAFT',
    })
    const refused = await other.run('echo', { text: 'x' })
    expect(refused.json).toMatchObject({ status: 404, code: 'VersionNotFound' })
    const ofDraft = await other.run('echo', { text: 'x' }, `version=${draft.id}`)
    expect(ofDraft.json).toEqual({ text: 'x' })
  })

  it('rejects mismatched input in strict mode only', async () => {
    const loose = await org.run('echo', { text: 'a', other: 1 })
    expect(loose.status).toBe(200)
    const strict = await org.run('echo', { text: 5, other: 1 }, 'enforceInputSchema=true')
    expect(strict.json).toMatchObject({ status: 422, code: 'InputSchemaMismatch' })
    expect(strict.json.errors.map((error: { path: string }) => error.path).sort()).toEqual([
      '/other',
      '/text',
    ])
  })
})

describe('GET executions', () => {
  it.each([...variants('/v1/agent_executions'), ...variants('/v1/agents/echo/executions')])(
    '%s lists the executions',
    async (path) => {
      const { status, json } = await org.call('GET', path)
      expect(status).toBe(200)
      expect(json.map((execution: { id: string }) => execution.id)).toContain(executionId)
      for (const execution of json)
        expect(executionRecord.strict().safeParse(execution).error).toBeUndefined()
    },
  )

  it('lists only the executions of the agent', async () => {
    const id = getExecutionId(await org.run('failing', { failure: 'throw' }))
    const ids = async (path: string) =>
      (await org.call('GET', path)).json.map((execution: { id: string }) => execution.id)
    expect(await ids('/v1/agents/failing/executions')).toContain(id)
    expect(await ids('/v1/agent_executions')).toContain(id)
    expect(await ids('/v1/agents/echo/executions')).not.toContain(id)
  })

  it('filters by status and tenant', async () => {
    const other = await newOrganization()
    await other.publish('echo')
    await other.publish('failing')
    await other.run('echo', { text: 'x' }, 'tenantId=a')
    await other.run('echo', { text: 'x' }, 'tenantId=b')
    await other.run('failing', { failure: 'throw' }, 'tenantId=a')
    const count = async (query: string) =>
      (await other.call('GET', `/v1/agent_executions?${query}`)).json.length
    expect(await count('status=SUCCESS')).toBe(2)
    expect(await count('status=ERROR')).toBe(1)
    expect(await count('status=IN_PROGRESS')).toBe(0)
    expect(await count('tenantId=a')).toBe(2)
    expect(await count('tenantId=a&status=SUCCESS')).toBe(1)
    expect(await count('tenantId=c')).toBe(0)
  })

  it('filters by the time of creation, from included and to excluded', async () => {
    const other = await newOrganization()
    await other.publish('echo')
    const times: string[] = []
    for (const text of ['a', 'b', 'c']) {
      const id = getExecutionId(await other.run('echo', { text }))
      times.push((await other.getExecution(id)).createdAt)
    }
    const [, from = '', to = ''] = times
    const texts = async (query: Record<string, string>) => {
      const { json } = await other.call('GET', `/v1/agent_executions?${new URLSearchParams(query)}`)
      return json.map(({ input }: { input: { text: string } }) => input.text)
    }
    expect(await texts({ from, to })).toEqual(['b'])
    expect(await texts({ from })).toEqual(['c', 'b'])
    expect(await texts({ to: from.replace('Z', '+00:00') })).toEqual(['a'])
    expect(await texts({ from, to: '2999-01-01T00:00:00Z', limit: '1' })).toEqual(['c'])
  })

  it.each(['/v1/agent_executions', '/v1/agents/echo/executions'])(
    '%s leaves out payloads with fields=summary',
    async (path) => {
      const { json } = await org.call('GET', `${path}?limit=3`)
      const { json: summaries } = await org.call('GET', `${path}?limit=3&fields=summary`)
      const withoutPayloads = ({
        input,
        output,
        inputAdaptations,
        feedback,
        logs,
        ...rest
      }: object & {
        [name: string]: unknown
      }) => rest
      expect(summaries).toEqual(json.map(withoutPayloads))
      expect((await org.call('GET', `${path}?limit=3&fields=all`)).json).toEqual(json)
    },
  )

  it.each(variants('/v1/agent_executions/{id}'))('%s returns the execution', async (path) => {
    const { status, json } = await org.call('GET', path.replace('{id}', executionId))
    expect(status).toBe(200)
    expect(json).toMatchObject({
      id: executionId,
      status: 'SUCCESS',
      input: { text: 'first' },
      output: { text: 'first' },
      steps: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
      model: null,
    })
  })
})

// Its content is tested in events/events.slow.test.ts.
describe('GET events', () => {
  it.each(variants('/v1/agent_executions/{id}/events'))('%s streams the events', async (path) => {
    const id = getExecutionId(await org.run('echo', { text: 'a' }))
    const { status, headers, text } = await org.call('GET', path.replace('{id}', id))
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(text).toMatch(/^event: status\n/)
    expect(text).toMatch(/\nevent: done\ndata: .*\n\n$/)
  })
})

describe('GET steps', () => {
  it.each(variants('/v1/agent_executions/{id}/steps'))(
    '%s lists the steps in order, in pages',
    async (path) => {
      await org.publish('three-steps')
      const folder = mkdtempSync(join(tmpdir(), 'aes-steps-'))
      const id = getExecutionId(await org.run('three-steps', { log: join(folder, 'log') }))
      rmSync(folder, { recursive: true })
      const url = path.replace('{id}', id)
      const all = await org.call('GET', url)
      expect(all.status).toBe(200)
      for (const step of all.json) expect(stepRecord.strict().safeParse(step).error).toBeUndefined()
      expect(all.json.map((step: { number: number }) => step.number)).toEqual([1, 2, 3])
      expect(all.json[0]).toMatchObject({ name: 'first', result: 1 })
      expect(all.headers.get('link')).toBeNull()
      const page = await org.call('GET', `${url}?limit=2`)
      expect(page.json).toEqual(all.json.slice(0, 2))
      const next = getNextLink(page) ?? ''
      expect((await org.call('GET', next)).json).toEqual(all.json.slice(2))
    },
  )

  it('lists no steps if there are none', async () => {
    expect((await org.call('GET', `/v1/agent_executions/${executionId}/steps`)).json).toEqual([])
  })
})

describe('DELETE executions', () => {
  it.each(variants('/v1/agent_executions/{id}'))('%s deletes the execution', async (path) => {
    const id = getExecutionId(await org.run('echo', { text: 'x' }))
    const response = await org.call('DELETE', path.replace('{id}', id))
    expect([response.status, response.text]).toEqual([204, ''])
    expect((await org.getExecution(id)).code).toBe('ExecutionNotFound')
    expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).json.code).toBe('ExecutionNotFound')
    expect((await org.call('GET', '/v1/agent_executions?limit=100')).text).not.toContain(id)
  })

  it('is rejected while the execution is in progress', async () => {
    await org.publish('wait')
    const { json } = await org.run('wait', { seconds: 60 }, 'execMode=async')
    const refused = await org.call('DELETE', `/v1/agent_executions/${json.id}`)
    expect(refused.json).toMatchObject({ status: 409, code: 'ExecutionInProgress', executionId: json.id })
    await org.call('POST', `/v1/agent_executions/${json.id}/cancel`)
    expect((await org.call('DELETE', `/v1/agent_executions/${json.id}`)).status).toBe(204)
  })
})

describe('POST cancel', () => {
  it.each(variants('/v1/agent_executions/{id}/cancel'))('%s ends the execution', async (path) => {
    await org.publish('wait')
    const { json } = await org.run('wait', { seconds: 60 }, 'execMode=async')
    const cancelled = await org.call('POST', path.replace('{id}', json.id))
    expect(cancelled.status).toBe(200)
    expect(cancelled.json).toMatchObject({
      id: json.id,
      status: 'ERROR',
      output: null,
      error: { code: 'Cancelled' },
    })
    expect(await org.getExecution(json.id)).toEqual(cancelled.json)
  })

  it('does not change a final execution', async () => {
    const before = await org.call('GET', `/v1/agent_executions/${executionId}`)
    const response = await org.call('POST', `/v1/agent_executions/${executionId}/cancel`)
    expect(response.status).toBe(200)
    expect(response.json).toEqual(before.json)
  })
})

describe('PUT feedback', () => {
  it.each(variants('/v1/agent_executions/{id}/feedback'))('%s stores the feedback', async (path) => {
    const options = { body: { rating: 1, correctedOutput: { text: 'better' }, note: 'Nearly.' } }
    const response = await org.call('PUT', path.replace('{id}', executionId), options)
    expect(response.status).toBe(200)
    expect(executionRecord.strict().safeParse(response.json).error).toBeUndefined()
    expect(response.json).toMatchObject({
      id: executionId,
      output: { text: 'first' },
      feedback: options.body,
    })
    expect(await org.getExecution(executionId)).toEqual(response.json)
  })
})

describe('POST mcp', () => {
  it.each(['/v1/mcp', '/v1/mcp/'])('%s lists the agents as tools', async (path) => {
    const { status, json } = await org.call('POST', path, modernRequest('tools/list'))
    expect(status).toBe(200)
    expect(json.result.tools.map(({ name }: { name: string }) => name)).toContain('echo')
  })
})

describe('routes', () => {
  const isProtected = (route: Route) => !getOperation(route.operation).public
  it.each(routes.filter(isProtected).map((route) => [route.method, route.path]))(
    'reject %s %s without a token',
    async (method, path) => {
      const anonymous = createClient(inject('service'), null)
      const response = await anonymous(
        method,
        path.replace('{agentId}', 'echo').replace('{executionId}', executionId),
      )
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(response.json).toMatchObject({ code: 'Unauthorized', status: 401 })
    },
  )
})
