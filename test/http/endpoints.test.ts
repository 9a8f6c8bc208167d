import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { routes } from '../../lib/api/routes.ts'
import { agentRecord, versionRecord } from '../../lib/api/schemas/agent-record.ts'
import { executionRecord } from '../../lib/api/schemas/execution-record.ts'
import { stepRecord } from '../../lib/api/schemas/step-record.ts'
import type { Version } from '../../lib/core/agent.ts'
import { createClient } from '../support/client.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'

let own: TestOrganization
let echo: Version
let executionId: string

beforeAll(async () => {
  own = await newOrganization()
  echo = await own.publish('echo')
  await own.publish('misbehave')
  const answer = await own.call('POST', '/v1/agents/echo/executions', { body: { text: 'first' } })
  executionId = answer.headers.get('x-execution-id') ?? ''
})

/** Each row of the interface's endpoint table and ours, under both names of an agent, with and without the slash. */
const both = (path: string) => [path, path.replace('/v1/agent', '/v1/document')].flatMap((p) => [p, `${p}/`])

describe('GET /v1/healthcheck', () => {
  it.each(['/v1/healthcheck', '/v1/healthcheck/'])('answers %s without a token', async (path) => {
    const answer = await createClient(inject('service'), null)('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ success: true })
  })
})

describe('GET agents', () => {
  it.each(both('/v1/agents'))('%s lists the agents, newest first', async (path) => {
    const { status, json } = await own.call('GET', path)
    expect(status).toBe(200)
    expect(json.map((agent: { slug: string }) => agent.slug)).toEqual(['misbehave', 'echo'])
    for (const agent of json) expect(agentRecord.strict().safeParse(agent).error).toBeUndefined()
  })

  it.each([...both('/v1/agents/echo')])('%s reads one by slug', async (path) => {
    const { status, json } = await own.call('GET', path)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      id: echo.agentId,
      orgId: own.id,
      slug: 'echo',
      title: 'Echo',
      description: 'Gives its input back.',
      currentVersionId: echo.id,
      draftVersionId: null,
      draftVersionStatus: null,
      inputSchema: { text: { type: 'string', description: 'Any text.' } },
    })
  })

  it('reads one by UUID, in either case, with the same bytes as by slug', async () => {
    const bySlug = await own.call('GET', '/v1/agents/echo')
    const byId = await own.call('GET', `/v1/documents/${echo.agentId}`)
    const byUpperCase = await own.call('GET', `/v1/agents/${echo.agentId.toUpperCase()}`)
    expect(byId.text).toBe(bySlug.text)
    expect(byUpperCase.text).toBe(bySlug.text)
  })

  it.each(both('/v1/agents/echo/versions'))('%s lists the versions', async (path) => {
    const { status, json } = await own.call('GET', path)
    expect(status).toBe(200)
    expect(json).toHaveLength(1)
    expect(versionRecord.strict().safeParse(json[0]).error).toBeUndefined()
    expect(json[0]).toMatchObject({ id: echo.id, documentId: echo.agentId, status: 'PUBLISHED' })
  })
})

describe('POST executions', () => {
  it.each(both('/v1/agents/echo/executions'))('%s answers with the bare output (sync)', async (path) => {
    const answer = await own.call('POST', path, { body: { text: 'hello' } })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ text: 'hello' })
    expect(answer.headers.get('content-type')).toBe('application/json')
    const id = answer.headers.get('x-execution-id')
    expect(answer.headers.get('location')).toBe(`/v1/agent_executions/${id}`)
  })

  it.each(both('/v1/agents/echo/executions'))(
    '%s answers with the record and runs later (async)',
    async (path) => {
      const answer = await own.call('POST', `${path}?execMode=async&tenantId=acme`, {
        body: { text: 'later' },
      })
      expect(answer.status).toBe(202)
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(answer.headers.get('location')).toBe(`/v1/agent_executions/${answer.json.id}`)
      expect(executionRecord.strict().safeParse(answer.json).error).toBeUndefined()
      expect(answer.json).toMatchObject({
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
      expect(answer.json).not.toHaveProperty('cachedDocumentExecutionId')
      const ended = await finalExecution(own.call, answer.json.id)
      expect(ended).toMatchObject({ status: 'SUCCESS', output: { text: 'later' }, error: null })
      expect(Date.parse(ended.finishedAt)).toBeGreaterThanOrEqual(Date.parse(ended.startedAt))
    },
  )

  it('runs the version that is asked for, a draft too, and the current one otherwise', async () => {
    const org = await newOrganization()
    const first = await org.publish('echo')
    const draft = await org.publish('echo', { draft: true })
    const second = await org.publish('echo')
    const versionRun = async (query: string) => {
      const { headers } = await org.call('POST', `/v1/agents/echo/executions${query}`, {
        body: { text: 'x' },
      })
      return (await org.call('GET', headers.get('location') ?? '')).json.versionId
    }
    expect(await versionRun('')).toBe(second.id)
    expect(await versionRun(`?version=${first.id}`)).toBe(first.id)
    expect(await versionRun(`?version=${draft.id.toUpperCase()}`)).toBe(draft.id)
    const { json } = await org.call('GET', '/v1/agents/echo/versions')
    expect(json.map((version: { id: string }) => version.id)).toEqual([second.id, draft.id, first.id])
  })

  it('does not run an agent of which only a draft exists, unless the draft is asked for', async () => {
    const org = await newOrganization()
    const draft = await org.publish('echo', { draft: true })
    const { json: agent } = await org.call('GET', '/v1/agents/echo')
    expect(agent).toMatchObject({
      currentVersionId: null,
      draftVersionId: draft.id,
      draftVersionStatus: 'DRAFT',
    })
    const refused = await org.call('POST', '/v1/agents/echo/executions', { body: { text: 'x' } })
    expect(refused.json).toMatchObject({ status: 404, code: 'VersionNotFound' })
    const ran = await org.call('POST', `/v1/agents/echo/executions?version=${draft.id}`, {
      body: { text: 'x' },
    })
    expect(ran.json).toEqual({ text: 'x' })
  })

  it('refuses mismatched input in strict mode only', async () => {
    const loose = await own.call('POST', '/v1/agents/echo/executions', { body: { text: 'a', other: 1 } })
    expect(loose.status).toBe(200)
    const strict = await own.call('POST', '/v1/agents/echo/executions?enforceInputSchema=true', {
      body: { text: 5, other: 1 },
    })
    expect(strict.json).toMatchObject({ status: 422, code: 'InputSchemaMismatch' })
    expect(strict.json.errors.map((error: { path: string }) => error.path).sort()).toEqual([
      '/other',
      '/text',
    ])
  })
})

describe('GET executions', () => {
  it.each([...both('/v1/agent_executions'), ...both('/v1/agents/echo/executions')])(
    '%s lists them',
    async (path) => {
      const { status, json } = await own.call('GET', path)
      expect(status).toBe(200)
      expect(json.map((execution: { id: string }) => execution.id)).toContain(executionId)
      for (const execution of json)
        expect(executionRecord.strict().safeParse(execution).error).toBeUndefined()
    },
  )

  it('lists those of one agent only under that agent', async () => {
    const { headers } = await own.call('POST', '/v1/agents/misbehave/executions', { body: { how: 'throw' } })
    const id = headers.get('x-execution-id')
    const ids = async (path: string) =>
      (await own.call('GET', path)).json.map((execution: { id: string }) => execution.id)
    expect(await ids('/v1/agents/misbehave/executions')).toContain(id)
    expect(await ids('/v1/agent_executions')).toContain(id)
    expect(await ids('/v1/agents/echo/executions')).not.toContain(id)
  })

  it('filters by status and tenant', async () => {
    const org = await newOrganization()
    await org.publish('echo')
    await org.publish('misbehave')
    await org.call('POST', '/v1/agents/echo/executions?tenantId=a', { body: { text: 'x' } })
    await org.call('POST', '/v1/agents/echo/executions?tenantId=b', { body: { text: 'x' } })
    await org.call('POST', '/v1/agents/misbehave/executions?tenantId=a', { body: { how: 'throw' } })
    const count = async (query: string) =>
      (await org.call('GET', `/v1/agent_executions?${query}`)).json.length
    expect(await count('status=SUCCESS')).toBe(2)
    expect(await count('status=ERROR')).toBe(1)
    expect(await count('status=IN_PROGRESS')).toBe(0)
    expect(await count('tenantId=a')).toBe(2)
    expect(await count('tenantId=a&status=SUCCESS')).toBe(1)
    expect(await count('tenantId=c')).toBe(0)
  })

  it.each(both('/v1/agent_executions/{id}'))('%s reads one', async (path) => {
    const { status, json } = await own.call('GET', path.replace('{id}', executionId))
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

describe('GET steps', () => {
  it.each(both('/v1/agent_executions/{id}/steps'))(
    '%s lists what a run has done, in order, by pages',
    async (path) => {
      await own.publish('stepping')
      const folder = mkdtempSync(join(tmpdir(), 'aes-steps-'))
      const { headers } = await own.call('POST', '/v1/agents/stepping/executions', {
        body: { log: join(folder, 'log') },
      })
      rmSync(folder, { recursive: true })
      const url = path.replace('{id}', headers.get('x-execution-id') ?? '')
      const all = await own.call('GET', url)
      expect(all.status).toBe(200)
      for (const step of all.json) expect(stepRecord.strict().safeParse(step).error).toBeUndefined()
      expect(all.json.map((step: { number: number }) => step.number)).toEqual([1, 2, 3])
      expect(all.json[0]).toMatchObject({ name: 'first', result: 1 })
      expect(all.headers.get('link')).toBeNull()
      const page = await own.call('GET', `${url}?limit=2`)
      expect(page.json).toEqual(all.json.slice(0, 2))
      const next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
      expect((await own.call('GET', next)).json).toEqual(all.json.slice(2))
    },
  )

  it('lists none where there are none', async () => {
    expect((await own.call('GET', `/v1/agent_executions/${executionId}/steps`)).json).toEqual([])
  })
})

describe('DELETE executions', () => {
  it.each(both('/v1/agent_executions/{id}'))('%s removes it for good', async (path) => {
    const { headers } = await own.call('POST', '/v1/agents/echo/executions', { body: { text: 'x' } })
    const id = headers.get('x-execution-id') ?? ''
    const answer = await own.call('DELETE', path.replace('{id}', id))
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await own.call('GET', `/v1/agent_executions/${id}`)).json.code).toBe('ExecutionNotFound')
    expect((await own.call('DELETE', `/v1/agent_executions/${id}`)).json.code).toBe('ExecutionNotFound')
    expect((await own.call('GET', '/v1/agent_executions?limit=100')).text).not.toContain(id)
  })

  it('refuses while the execution is in progress', async () => {
    await own.publish('wait')
    const { json } = await own.call('POST', '/v1/agents/wait/executions?execMode=async', {
      body: { seconds: 60 },
    })
    const refused = await own.call('DELETE', `/v1/agent_executions/${json.id}`)
    expect(refused.json).toMatchObject({ status: 409, code: 'ExecutionInProgress', executionId: json.id })
    await own.call('POST', `/v1/agent_executions/${json.id}/cancel`)
    expect((await own.call('DELETE', `/v1/agent_executions/${json.id}`)).status).toBe(204)
  })
})

describe('POST cancel', () => {
  it.each(both('/v1/agent_executions/{id}/cancel'))('%s ends a run', async (path) => {
    await own.publish('wait')
    const { json } = await own.call('POST', '/v1/agents/wait/executions?execMode=async', {
      body: { seconds: 60 },
    })
    const cancelled = await own.call('POST', path.replace('{id}', json.id))
    expect(cancelled.status).toBe(200)
    expect(cancelled.json).toMatchObject({
      id: json.id,
      status: 'ERROR',
      output: null,
      error: { code: 'Cancelled' },
    })
    expect((await own.call('GET', `/v1/agent_executions/${json.id}`)).json).toEqual(cancelled.json)
  })

  it('leaves an execution that has ended as it is', async () => {
    const before = await own.call('GET', `/v1/agent_executions/${executionId}`)
    const answer = await own.call('POST', `/v1/agent_executions/${executionId}/cancel`)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual(before.json)
  })
})

describe('PUT feedback', () => {
  it.each(both('/v1/agent_executions/{id}/feedback'))('%s says what an execution was worth', async (path) => {
    const options = { body: { rating: 1, correctedOutput: { text: 'better' }, note: 'Nearly.' } }
    const answer = await own.call('PUT', path.replace('{id}', executionId), options)
    expect(answer.status).toBe(200)
    expect(executionRecord.strict().safeParse(answer.json).error).toBeUndefined()
    expect(answer.json).toMatchObject({ id: executionId, output: { text: 'first' }, feedback: options.body })
    expect((await own.call('GET', `/v1/agent_executions/${executionId}`)).json).toEqual(answer.json)
  })
})

describe('routes', () => {
  it('are all called by the tests of this file', async () => {
    const source = await import('node:fs').then(({ readFileSync }) =>
      readFileSync(import.meta.filename, 'utf8'),
    )
    const called = routes
      .filter(({ legacy }) => !legacy)
      .map(({ path }) => path.replace('{agentId}', 'echo').replace('{executionId}', '{id}'))
    for (const path of called) expect(source).toContain(`'${path}'`)
  })

  it.each(routes.filter(({ path }) => path !== '/v1/healthcheck').map((route) => [route.method, route.path]))(
    'refuses %s %s without a token',
    async (method, path) => {
      const anonymous = createClient(inject('service'), null)
      const answer = await anonymous(
        method,
        path.replace('{agentId}', 'echo').replace('{executionId}', executionId),
      )
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(answer.json).toMatchObject({ code: 'Unauthorized', status: 401 })
    },
  )
})
