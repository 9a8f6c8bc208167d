import { beforeAll, describe, expect, it } from 'vitest'
import type { VersionDetails } from '../../../lib/contract/records/agent.ts'
import { toDocumentText } from '../../../lib/core/agent.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'

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

let org: TestOrganization
let first: VersionDetails
beforeAll(async () => {
  org = await newOrganization()
  first = (await org.call('POST', '/v1/agents', { body: { document: DOCUMENT, slug: 'sort' } })).json
})

const read = async (id: string): Promise<VersionDetails & { frontMatter: JsonObject }> =>
  (await org.call('GET', `/v1/agents/sort/versions/${id}?frontMatter=true`)).json
const edit = async (id: string, change: JsonObject, instructions?: string) => {
  const { frontMatter, instructions: before } = await read(id)
  const document = toDocumentText({ ...frontMatter, ...change }, instructions ?? before)
  return org.call('POST', '/v1/agents', { body: { document, slug: 'sort', draft: true, editedFrom: id } })
}

describe('a version that is edited', () => {
  it('is a draft that says from which version of the repository it was made, through any number of drafts', async () => {
    const second = (await edit(first.id, { model: 'openai/gpt-5' })).json
    const third = (await edit(second.id, {}, 'Sort them.')).json
    expect(third).toMatchObject({ status: 'DRAFT', model: 'openai/gpt-5', editedFrom: first.id })
    expect(await read(third.id)).toMatchObject({ editedFrom: first.id, instructions: 'Sort them.' })
    expect(await read(first.id)).not.toHaveProperty('editedFrom')
    await org.call('POST', `/v1/agents/sort/versions/${third.id}/promote`)
    expect((await org.call('GET', '/v1/agents/sort/versions')).json[0]).toMatchObject({
      editedFrom: first.id,
    })
  })

  it('is checked as any other, and named by an ID of the agent', async () => {
    const { status, json } = await edit(first.id, { execution: { maxCostUsd: -1 }, model: 'nobody' })
    expect(status).toBe(422)
    expect(json.errors.map(({ field }: { field: string }) => field)).toEqual([
      'model',
      'execution.maxCostUsd',
    ])
    const other = await (await newOrganization()).publish('echo')
    const body = { document: DOCUMENT, slug: 'sort', draft: true }
    for (const [editedFrom, code] of [
      [other.id, 'VersionNotFound'],
      ['v1', 'InvalidAgent'],
    ]) {
      const { json: problem } = await org.call('POST', '/v1/agents', { body: { ...body, editedFrom } })
      expect(problem.code).toBe(code)
    }
  })
})
