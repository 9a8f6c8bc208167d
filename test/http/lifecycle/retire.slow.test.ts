import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import type { ApiClient } from '../../support/service/client.ts'
import { type Lifecycle, newLifecycle } from './lifecycle-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-retire-'))
afterAll(() => rmSync(folder, { recursive: true }))

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const change = (what: 'retire' | 'unretire' | 'promote') => (slug: string, versionId: string) =>
  org.post(`/v1/agents/${slug}/versions/${versionId}/${what}`)
const [retire, unretire, promote] = [change('retire'), change('unretire'), change('promote')]
const codesOf = (responses: { status: number; json: { code?: string } }[]) =>
  responses.map(({ status, json }) => [status, json.code])

const callTool = async (call: ApiClient, name: string, meta: object) => {
  const params = { name, arguments: { name: 'x' }, _meta: meta }
  return parseMessages((await call('POST', '/v1/mcp', modernRequest('tools/call', params))).text).at(-1)
}

/** Two published versions; the second is current. */
async function publishTwo(slug: string, publish = org.publishText) {
  const { id: old } = await publish(slug, 'A')
  const { id: current } = await publish(slug, 'B')
  return { old, current }
}

describe.concurrent('a retired version', () => {
  it('responds to every new run with 410 VersionRetired, until it is unretired', async () => {
    const { old } = await publishTwo('closed', org.publishSaying)
    expect((await org.run('closed', { name: 'x' }, `version=${old}&useCache=true`)).json.said).toBe('A')
    const response = await retire('closed', old)
    expect(response.status).toBe(200)
    expect(response.json).toMatchObject({ id: old, status: 'PUBLISHED', retiredAt: expect.any(String) })
    const queries = ['', 'execMode=async', 'useCache=true'].map((query) => `version=${old}&${query}`)
    const runs = await Promise.all(queries.map((query) => org.run('closed', { name: 'x' }, query)))
    expect(codesOf(runs)).toEqual(Array(3).fill([410, 'VersionRetired']))
    const events = await org.call('POST', `/v1/agents/closed/executions?version=${old}`, {
      body: { name: 'x' },
      headers: { Accept: 'text/event-stream' },
    })
    expect(codesOf([events])).toEqual([[410, 'VersionRetired']])
    expect((await callTool(org.call, 'closed', { version: old })).error.message).toContain('retired')
    expect((await org.run('closed', { name: 'x' })).json.said).toBe('B')
    expect((await unretire('closed', old)).json).toMatchObject({ id: old, retiredAt: null })
    expect((await org.run('closed', { name: 'x' }, `version=${old}`)).json.said).toBe('A')
  })

  it('cannot be promoted: 409 VersionRetired, also a draft, whose status stays', async () => {
    const { old, current } = await publishTwo('fixed')
    const { id: draft } = await org.publishText('fixed', 'C', { draft: true })
    for (const id of [old, draft]) await retire('fixed', id)
    expect(codesOf([await promote('fixed', old), await promote('fixed', draft)])).toEqual(
      Array(2).fill([409, 'VersionRetired']),
    )
    expect((await org.agent('fixed')).currentVersionId).toBe(current)
    expect((await org.versions('fixed')).map(({ status }) => status)).toEqual([
      'DRAFT',
      'PUBLISHED',
      'PUBLISHED',
    ])
    await unretire('fixed', old)
    expect((await promote('fixed', old)).json.currentVersionId).toBe(old)
  })

  it('is never the current one: 409 VersionNotRetirable', async () => {
    const { current } = await publishTwo('contested')
    expect(codesOf([await retire('contested', current)])).toEqual([[409, 'VersionNotRetirable']])
    expect((await org.versions('contested'))[0].retiredAt).toBeNull()
  })
})

describe.concurrent('a draft', () => {
  it('needs a token with the scope manage wherever a run can name it', async () => {
    await org.publishSaying('drafted', 'A')
    const { id } = await org.publishSaying('drafted', 'B', { draft: true })
    const run = await org.withLimits({ scopes: ['run', 'read'] })
    const both = await org.withLimits({ scopes: ['run', 'manage'] })
    const send = (call: ApiClient, query: string, headers: Record<string, string> = {}) =>
      call('POST', `/v1/agents/drafted/executions?${query}`, { body: { name: 'x' }, headers })
    const query = `version=${id}`
    const allowed = await send(both, `${query}&useCache=true`, { 'Idempotency-Key': 'k' })
    expect([allowed.status, allowed.json.said]).toEqual([200, 'B'])
    const refused = [
      await send(run, query),
      await send(run, `${query}&execMode=async`),
      await send(run, query, { Accept: 'text/event-stream' }),
      await send(run, `${query}&useCache=true`),
      await send(run, `${query}&useCache=true`, { 'Idempotency-Key': 'k' }),
      await run('POST', `/v1/documents/drafted/executions?${query}`, { body: { name: 'x' } }),
    ]
    expect(codesOf(refused)).toEqual(Array(refused.length).fill([403, 'Forbidden']))
    expect((await callTool(both, 'drafted', { version: id })).result.structuredContent.said).toBe('B')
    expect((await callTool(run, 'drafted', { version: id })).error.message).toContain('scope manage')
    expect((await send(run, '')).json.said).toBe('A')
    await promote('drafted', id)
    expect((await send(run, query)).json.said).toBe('B')
  })
})
