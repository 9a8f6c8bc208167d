import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { type ApiClient, getExecutionId, waitForExecution } from '../../support/service/client.ts'
import { type Lifecycle, newLifecycle, UNTIL_FILE_EXISTS } from './lifecycle-client.ts'

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
const retiredAtOf = async (slug: string, versionId: string) => {
  const listed = (await org.versions(slug)).find(({ id }) => id === versionId)
  const { json } = await org.call('GET', `/v1/agents/${slug}/versions/${versionId}`)
  expect(json.retiredAt).toBe(listed?.retiredAt)
  return json.retiredAt
}

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

  it('is never the current one: 409 VersionNotRetirable, also when both are attempted at the same time', async () => {
    const { old, current } = await publishTwo('contested')
    expect(codesOf([await retire('contested', current)])).toEqual([[409, 'VersionNotRetirable']])
    for (let round = 0; round < (inject('isNightly') ? 10 : 3); round++) {
      await promote('contested', current)
      await unretire('contested', old)
      const [promoted, retired] = await Promise.all([promote('contested', old), retire('contested', old)])
      const isCurrent = (await org.agent('contested')).currentVersionId === old
      expect([promoted.status, retired.status]).toEqual(isCurrent ? [200, 409] : [409, 200])
      expect((await retiredAtOf('contested', old)) === null).toBe(isCurrent)
    }
  })

  it('finishes its runs in progress, and repeats the response of an accepted request', async () => {
    const file = join(folder, 'retire')
    const { id } = await org.publishSaying('waits', '', { code: UNTIL_FILE_EXISTS })
    await org.publishSaying('waits', 'B')
    const send = (key: string) =>
      org.call('POST', `/v1/agents/waits/executions?version=${id}&execMode=async`, {
        body: { name: file },
        headers: { 'Idempotency-Key': key },
      })
    const accepted = await send('one')
    const running = org.run('waits', { name: file }, `version=${id}`)
    const listed = async () => (await org.call('GET', '/v1/agents/waits/executions')).json
    await vi.waitFor(async () => expect(await listed()).toHaveLength(2))
    await retire('waits', id)
    expect(codesOf([await send('two')])).toEqual([[410, 'VersionRetired']])
    const again = await send('one')
    expect([again.status, getExecutionId(again)]).toEqual([202, getExecutionId(accepted)])
    writeFileSync(file, '')
    expect((await running).status).toBe(200)
    expect((await waitForExecution(org.call, getExecutionId(accepted))).status).toBe('SUCCESS')
  })

  it('stays retired from the first time on; unretiring twice changes nothing', async () => {
    const { old } = await publishTwo('again')
    const first = (await retire('again', old)).json
    expect((await retire('again', old)).json).toEqual(first)
    expect(await retiredAtOf('again', old)).toBe(first.retiredAt)
    for (let n = 0; n < 2; n++) expect((await unretire('again', old)).json.retiredAt).toBeNull()
    expect(await retiredAtOf('again', old)).toBeNull()
  })

  it('is not what a publish of its content returns', async () => {
    const [a, b] = [
      await org.publishText('same', 'A', { draft: true }),
      await org.publishText('same', 'A', { draft: true }),
    ]
    expect(b.id).toBe(a.id)
    await retire('same', a.id)
    const c = await org.publishText('same', 'A', { draft: true })
    expect(c.id).not.toBe(a.id)
    await retire('same', c.id)
    const published = await org.publishText('same', 'A')
    expect([a.id, c.id]).not.toContain(published.id)
    expect(published).toMatchObject({ status: 'PUBLISHED', retiredAt: null })
  })

  it('can be deleted if it is a draft, and a later one is not retired', async () => {
    const { id } = await org.publishText('deleted', 'A', { draft: true })
    await retire('deleted', id)
    expect((await org.call('DELETE', `/v1/agents/deleted/versions/${id}`)).status).toBe(204)
    expect(codesOf([await retire('deleted', id)])).toEqual([[404, 'VersionNotFound']])
  })

  it('that does not exist is 404', async () => {
    const { old } = await publishTwo('known')
    const { old: foreign } = await publishTwo('other')
    const responses = [
      await retire('missing', old),
      await retire('known', foreign),
      await unretire('known', foreign),
      await retire('known', 'latest'),
    ]
    expect(codesOf(responses)).toEqual([[404, 'AgentNotFound'], ...Array(3).fill([404, 'VersionNotFound'])])
  })

  it('has no route under the legacy name', async () => {
    const { old } = await publishTwo('modern')
    expect((await org.post(`/v1/documents/modern/versions/${old}/retire`)).status).toBe(404)
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

  it('that was superseded needs it, too; a published version that was replaced does not', async () => {
    const { id: draft } = await org.publishSaying('left', 'A', { draft: true })
    const { id: old } = await org.publishSaying('left', 'B')
    await org.publishSaying('left', 'C')
    const run = await org.withLimits({ scopes: ['run'] })
    const send = (version: string) =>
      run('POST', `/v1/agents/left/executions?version=${version}`, { body: { name: 'x' } })
    expect((await send(draft)).status).toBe(403)
    expect((await send(old)).json.said).toBe('B')
  })

  it('of an agent without a published version is 403, and its agent without a version 404', async () => {
    const { id } = await org.publishText('unpublished', 'A', { draft: true })
    const run = await org.withLimits({ scopes: ['run'] })
    const send = (query: string) =>
      run('POST', `/v1/agents/unpublished/executions?${query}`, { body: { name: 'x' } })
    expect(codesOf([await send(`version=${id}`), await send('')])).toEqual([
      [403, 'Forbidden'],
      [404, 'VersionNotFound'],
    ])
  })
})
