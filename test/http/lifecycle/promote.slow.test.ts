import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { system } from '../../../lib/system.ts'
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
    const [a, b] = [await org.publishSaying('back', 'A'), await org.publishSaying('back', 'B')]
    const draft = await org.publishSaying('back', 'C', { draft: true })
    expect((await promote('back', a.id)).json).toMatchObject({
      currentVersionId: a.id,
      draftVersionId: draft.id,
    })
    expect(await say('back')).toBe('A')
    expect((await promote('back', b.id)).json.currentVersionId).toBe(b.id)
    expect(await say('back')).toBe('B')
  })

  it('of the current version changes nothing', async () => {
    const { id } = await org.publishText('twice', 'A')
    const before = await org.agent('twice')
    expect(await promote('twice', id.toUpperCase())).toMatchObject({ status: 200, json: before })
  })

  it('of a superseded draft keeps the newer one', async () => {
    const old = await org.publishText('superseded', 'A', { draft: true })
    const draft = await org.publishText('superseded', 'B', { draft: true })
    const { json } = await promote('superseded', old.id)
    expect(json).toMatchObject({ currentVersionId: old.id, draftVersionId: draft.id })
  })

  it('shows title, description and schemas of the version that it makes current', async () => {
    const document = (title: string, description: string) => `---
title: ${title}
slug: shown
${description}input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat.
`
    const first = (await org.post('/v1/agents', { document: document('One', '') })).json
    await org.post('/v1/agents', { document: document('Two', 'description: Second.\n') })
    expect(await org.agent('shown')).toMatchObject({ title: 'Two', description: 'Second.' })
    await promote('shown', first.id)
    expect(await org.agent('shown')).toMatchObject({ title: 'One', description: null })
  })

  it.each([
    ['an unknown version', () => system.newId()],
    ['a text that is no id', () => 'x'.repeat(2_000)],
  ])('of %s is 404 VersionNotFound', async (_, idOf) => {
    await org.publishText('known', 'A')
    for (const send of [promote, remove]) {
      const { status, json } = await send('known', idOf())
      expect([status, json.code]).toEqual([404, 'VersionNotFound'])
    }
    const { json } = await org.call('GET', `/v1/agents/known/versions/${idOf()}`)
    expect(json.code).toBe('VersionNotFound')
  })

  it('of the version of another agent is 404', async () => {
    await org.publishText('mine', 'A')
    const { id } = await org.publishText('yours', 'B')
    expect((await promote('mine', id)).json.code).toBe('VersionNotFound')
  })

  it('of many versions at once, next to publishes, leaves one current version that the agent shows', async () => {
    const versions = [await org.publishSaying('busy', '0')]
    for (const said of ['1', '2', '3']) versions.push(await org.publishSaying('busy', said))
    const draft = await org.publishSaying('busy', '4', { draft: true })
    const responses = await Promise.all([
      ...[...versions, draft, ...versions].map(({ id }) => promote('busy', id)),
      ...['5', '6'].map((said) => org.publishSaying('busy', said)),
    ])
    for (const response of responses)
      if ('status' in response && 'text' in response) expect(response.status).toBe(200)
    const { currentVersionId, draftVersionId } = await org.agent('busy')
    const current = (await org.versions('busy')).find(({ id }) => id === currentVersionId)
    expect([current.status, draftVersionId]).toEqual(['PUBLISHED', null])
    await org.run('busy', { name: 'x' })
    const [execution] = (await org.call('GET', '/v1/agents/busy/executions')).json
    expect(execution.versionId).toBe(currentVersionId)
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

  it('keeps a newer draft', async () => {
    const old = await org.publishText('newer', 'A', { draft: true })
    const draft = await org.publishText('newer', 'B', { draft: true })
    expect((await remove('newer', old.id)).status).toBe(204)
    expect((await org.agent('newer')).draftVersionId).toBe(draft.id)
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

  it('races promotion: one of the two wins', async () => {
    for (let round = 0; round < 5; round++) {
      const draft = await org.publishSaying('raced', `${round}`, { draft: true })
      const [promoted, deleted] = await Promise.all([promote('raced', draft.id), remove('raced', draft.id)])
      expect([
        [200, 409],
        [404, 204],
      ]).toContainEqual([promoted.status, deleted.status])
      const found = (await org.versions('raced')).some(({ id }) => id === draft.id)
      expect(found).toBe(promoted.status === 200)
      if (found) expect(await say('raced')).toBe(`${round}`)
    }
  })
})
