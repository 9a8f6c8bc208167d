import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitForExecution } from '../../support/service/client.ts'
import { type Lifecycle, newLifecycle, UNTIL_FILE_EXISTS } from './lifecycle-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-lifecycle-'))
afterAll(() => rmSync(folder, { recursive: true }))

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const promote = (slug: string, id: string) => org.post(`/v1/agents/${slug}/versions/${id}/promote`)
const remove = (slug: string, id: string) => org.call('DELETE', `/v1/agents/${slug}/versions/${id}`)
const say = async (slug: string) => (await org.run(slug, { name: 'x' })).json.said

describe.concurrent('promote', () => {
  it('makes a draft current with the id under which it was tested', async () => {
    const first = await org.publishSaying('tested', 'A')
    const draft = await org.publishSaying('tested', 'B', { draft: true })
    const { status, json } = await promote('tested', draft.id)
    expect(status).toBe(200)
    expect(json).toMatchObject({ currentVersionId: draft.id, draftVersionId: null, draftVersionStatus: null })
    expect(await org.agent('tested')).toEqual(json)
    expect(await say('tested')).toBe('B')
    expect(await org.versions('tested')).toEqual([{ ...draft, status: 'PUBLISHED' }, first])
  })

  it('goes back to an older version, and keeps the draft', async () => {
    const old = await org.publishSaying('back', 'A')
    await org.publishSaying('back', 'B')
    const draft = await org.publishSaying('back', 'C', { draft: true })
    const { json } = await promote('back', old.id)
    expect(json).toMatchObject({ currentVersionId: old.id, draftVersionId: draft.id })
    expect(await say('back')).toBe('A')
  })
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

  it('is 409 VersionPublished for a version that is or was current, a promoted draft too', async () => {
    const draft = await org.publishText('used', 'A', { draft: true })
    await promote('used', draft.id)
    for (const _ of ['current', 'old']) {
      const { status, json } = await remove('used', draft.id)
      expect([status, json.code]).toEqual([409, 'VersionPublished'])
      await org.publishText('used', 'B')
    }
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
