import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sendModern } from '../../mcp/messages.ts'
import { type ApiClient, waitForExecution } from '../../support/service/client.ts'
import { newLifecycle, UNTIL_FILE_EXISTS } from './lifecycle-client.ts'

const org = await newLifecycle()
const folder = mkdtempSync(join(tmpdir(), 'aes-lifecycle-'))
afterAll(() => rmSync(folder, { recursive: true }))

const change = (what: 'retire' | 'unretire' | 'promote') => (slug: string, versionId: string) =>
  org.post(`/v1/agents/${slug}/versions/${versionId}/${what}`)
const [retire, unretire, promote] = [change('retire'), change('unretire'), change('promote')]
const remove = (slug: string, id: string) => org.call('DELETE', `/v1/agents/${slug}/versions/${id}`)

const codesOf = (responses: { status: number; json: { code?: string } }[]) =>
  responses.map(({ status, json }) => [status, json.code])

const callTool = (call: ApiClient, name: string, _meta: object) =>
  sendModern(call, 'tools/call', { name, arguments: { name: 'x' }, _meta })

it.concurrent('a retired version responds to every new run with 410 VersionRetired, until it is unretired', async () => {
  const { id: old } = await org.publishSaying('closed', 'A')
  await org.publishSaying('closed', 'B')
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

it.concurrent('a draft needs a token with the scope manage wherever a run can name it', async () => {
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

it.concurrent('promote makes a draft current with the id under which it was tested', async () => {
  const first = await org.publishSaying('tested', 'A')
  const draft = await org.publishSaying('tested', 'B', { draft: true })
  const { status, json } = await promote('tested', draft.id)
  const ids = { currentVersionId: draft.id, draftVersionId: null, draftVersionStatus: null }
  expect([status, json]).toMatchObject([200, ids])
  expect(await org.agent('tested')).toEqual(json)
  expect((await org.run('tested', { name: 'x' })).json.said).toBe('B')
  const promoted = { promotedAt: json.updatedAt, promotedBy: draft.createdBy, promotedByName: 'test' }
  expect(await org.versions('tested')).toEqual([{ ...draft, status: 'PUBLISHED', ...promoted }, first])
})

describe.concurrent('DELETE of a version', () => {
  it('deletes a draft, which is gone at once and for good', async () => {
    const { id: kept } = await org.publishText('drafts', 'A')
    const draft = await org.publishText('drafts', 'B', { draft: true })
    expect(await remove('drafts', draft.id)).toMatchObject({ status: 204, text: '' })
    expect((await org.agent('drafts')).draftVersionId).toBeNull()
    expect((await org.versions('drafts')).map(({ id }) => id)).toEqual([kept])
    const run = await org.run('drafts', { name: 'x' }, `version=${draft.id}`)
    const again = [await remove('drafts', draft.id), await promote('drafts', draft.id), run]
    expect(again.map(({ json }) => json.code)).toEqual(Array(3).fill('VersionNotFound'))
  })

  it('is 409 ExecutionInProgress while a run of the draft is in progress, which then ends as if nothing had happened', async () => {
    const file = join(folder, 'delete')
    const draft = await org.publishSaying('waits', '', { code: UNTIL_FILE_EXISTS, draft: true })
    const { id } = (await org.run('waits', { name: file }, `execMode=async&version=${draft.id}`)).json
    const { status, json } = await remove('waits', draft.id)
    expect([status, json.code, json.executionId]).toEqual([409, 'ExecutionInProgress', id])
    writeFileSync(file, '')
    expect(await waitForExecution(org.call, id)).toMatchObject({ status: 'SUCCESS', versionId: draft.id })
    expect((await remove('waits', draft.id)).status).toBe(204)
    expect((await org.getExecution(id)).versionId).toBe(draft.id)
  })
})
