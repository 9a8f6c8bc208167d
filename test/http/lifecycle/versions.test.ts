import { describe, expect, it } from 'vitest'
import type { VersionDetails } from '../../../lib/contract/records/agent.ts'
import { toDocumentText } from '../../../lib/core/agent.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { idsOf } from '../../support/service/client.ts'
import { newLifecycle } from './lifecycle-client.ts'

const DOCUMENT = `---
title: Sort tickets # a comment
input: { text: { type: string } }
output: { priority: { type: string, enum: [low, high] } }
tools:
  - name: look
    description: Looks it up.
    input: { id: { type: string } }
    http: { method: GET, url: "https://shop.example/{id}", headers: { Authorization: "Bearer \${secret:KEY}" } }
execution: { maxCostUsd: 0.10 }
---

Sort it.
`

const org = await newLifecycle()
const first: VersionDetails = (await org.post('/v1/agents', { document: DOCUMENT, slug: 'sort' })).json

const read = async (id: string): Promise<VersionDetails & { frontMatter: JsonObject }> =>
  (await org.call('GET', `/v1/agents/sort/versions/${id}?frontMatter=true`)).json
const edit = async (id: string, change: JsonObject, instructions?: string) => {
  const { frontMatter, instructions: before } = await read(id)
  const document = toDocumentText({ ...frontMatter, ...change }, instructions ?? before)
  return org.post('/v1/agents', { document, slug: 'sort', draft: true, editedFrom: id })
}

describe('a version that is edited', () => {
  it('is a draft that says from which version of the repository it was made, through any number of drafts', async () => {
    const second = (await edit(first.id, { model: 'openai/gpt-5' })).json
    const third = (await edit(second.id, {}, 'Sort them.')).json
    expect(third).toMatchObject({ status: 'DRAFT', model: 'openai/gpt-5', editedFrom: first.id })
    expect(await read(third.id)).toMatchObject({ editedFrom: first.id, instructions: 'Sort them.' })
    expect(await read(first.id)).not.toHaveProperty('editedFrom')
    await org.post(`/v1/agents/sort/versions/${third.id}/promote`)
    expect((await org.versions('sort'))[0]).toMatchObject({ editedFrom: first.id })
  })

  it('is checked as any other, and named by an ID of the agent', async () => {
    const { status, json } = await edit(first.id, { execution: { maxCostUsd: -1 }, model: 'nobody' })
    expect(status).toBe(422)
    expect(idsOf(json.errors, 'field')).toEqual(['model', 'execution.maxCostUsd'])
    const other = await (await newOrganization()).publish('echo')
    const body = { document: DOCUMENT, slug: 'sort', draft: true }
    for (const [editedFrom, code] of [
      [other.id, 'VersionNotFound'],
      ['v1', 'InvalidAgent'],
    ]) {
      expect((await org.post('/v1/agents', { ...body, editedFrom })).json.code).toBe(code)
    }
  })
})

it('versions are numbered, and say who has promoted them and when, also once they are replaced', async () => {
  const read = async (id: string) => (await org.call('GET', `/v1/agents/echo/versions/${id}`)).json
  const first = await org.publish('echo', { title: 'A' })
  const draft = await org.publish('echo', { title: 'B', draft: true })
  expect(await read(first.id)).toMatchObject({ number: 1, promotedAt: first.createdAt, promotedBy: org.id })
  expect(await read(draft.id)).toMatchObject({ number: 2, promotedAt: null, promotedBy: null })
  await org.post(`/v1/agents/echo/versions/${draft.id}/promote`)
  const { tokenId } = (await org.call('GET', '/v1/me')).json
  const promoted = await read(draft.id)
  expect(promoted).toMatchObject({ number: 2, promotedBy: tokenId, promotedByName: expect.any(String) })
  expect(Date.parse(promoted.promotedAt)).toBeGreaterThan(Date.parse(draft.createdAt))
  const third = await org.publish('echo', { title: 'C' })
  expect(await read(third.id)).toMatchObject({ number: 3, promotedBy: org.id })
  expect(await read(draft.id)).toEqual(promoted)
  expect(await read(first.id)).toMatchObject({ promotedAt: first.createdAt })
  await org.post(`/v1/agents/echo/versions/${first.id}/promote`)
  expect(await read(first.id)).toMatchObject({ number: 1, promotedBy: tokenId })
  expect(idsOf(await org.versions('echo'), 'number')).toEqual([3, 2, 1])
})

it('an organization has a name', async () => {
  expect((await org.call('GET', '/v1/me')).json).toMatchObject({
    ...{ organizationName: expect.any(String), environmentName: null, httpPublishing: true },
  })
})

it('an archived agent responds to new runs of every version with 410 AgentArchived, until it is restored', async () => {
  const version = await org.publishSaying('closed', 'A')
  const draft = await org.publishSaying('closed', 'B', { draft: true })
  const { status, json } = await org.post('/v1/agents/closed/archive')
  expect([status, json.archivedAt]).toEqual([200, expect.any(String)])
  const versions = [version, draft].map(({ id }) => `version=${id}`)
  for (const query of ['', 'execMode=async', 'useCache=true', ...versions]) {
    const response = await org.run('closed', { name: 'x' }, query)
    expect([response.status, response.json.code], query).toEqual([410, 'AgentArchived'])
  }
  expect((await org.call('GET', '/v1/agents/closed/executions')).json).toEqual([])
  expect((await org.post('/v1/agents/closed/restore')).json.archivedAt).toBeNull()
  expect((await org.run('closed', { name: 'x' })).json.said).toBe('A')
})
