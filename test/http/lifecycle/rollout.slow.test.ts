import { describe, expect, it } from 'vitest'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { getRollout } from '../../../lib/engine/rollouts/change-rollout.ts'
import { system } from '../../../lib/system.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { idsOf } from '../../support/service/client.ts'
import { newLifecycle } from './lifecycle-client.ts'

const org = await newLifecycle()

const path = (slug: string) => `/v1/agents/${slug}/rollout`
const put = (slug: string, body: object) => org.call('PUT', path(slug), { body })

/** An agent that says `old`, and a draft of it that says `new`. */
async function anAgent(slug: string) {
  const current = await org.publishSaying(slug, 'old')
  return { current, draft: await org.publishSaying(slug, 'new', { draft: true }) }
}

describe.concurrent('PUT /v1/agents/{id}/rollout', () => {
  it('starts and changes a rollout, which the agent and its versions show', async () => {
    const slug = 'shown'
    const { current, draft } = await anAgent(slug)
    expect((await org.call('GET', path(slug))).json).toMatchObject({ status: 404, code: 'RolloutNotFound' })
    const abort = { maxErrorRate: 0.05 }
    const started = await put(slug, { versionId: draft.id.toUpperCase(), percent: 10, abort })
    expect(started.status, started.text).toBe(200)
    const { startedAt } = started.json
    const rollout = { versionId: draft.id, percent: 10, key: 'tenant', startedAt, updatedAt: startedAt }
    expect(started.json).toEqual({
      ...{ ...rollout, documentId: draft.documentId, currentVersionId: current.id },
      abort: { maxErrorRate: 0.05, maxCostIncrease: null, maxScoreDrop: null, minRuns: 20 },
    })
    expect(startedAt).toEqual(expect.any(String))
    expect((await org.call('GET', path(slug))).json).toEqual(started.json)
    const ids = { currentVersionId: current.id, draftVersionId: null }
    expect(await org.agent(slug)).toMatchObject({ ...ids, rollout })
    const [newer, older] = await org.versions(slug)
    expect(newer).toMatchObject({ id: draft.id, status: 'PUBLISHED', rollout: { percent: 10 } })
    expect(Object.keys(older ?? {})).not.toContain('rollout')
    const changed = await put(slug, { versionId: draft.id, percent: 12.5, key: 'execution' })
    // What is absent stays.
    const kept = { startedAt, key: 'execution', abort: { maxErrorRate: 0.05, minRuns: 20 } }
    expect(changed.json).toMatchObject({ ...kept, percent: 12.5 })
    expect((await put(slug, { versionId: draft.id, percent: 33.33 })).json).toMatchObject(kept)
    const tiny = { maxErrorRate: 5e-324, maxCostIncrease: 1e-9 }
    const rounded = await put(slug, { versionId: draft.id, percent: 33.33, abort: tiny })
    expect(rounded.json).toMatchObject({ percent: 33.33, abort: { maxErrorRate: 0, maxCostIncrease: 0 } })
    const ended = await put(slug, { versionId: draft.id, percent: 50, abort: null })
    expect(ended.json).toMatchObject({ startedAt, key: 'execution', abort: null })
    expect((await org.call('DELETE', path(slug))).status).toBe(204)
    expect((await org.call('DELETE', path(slug))).json).toMatchObject({ code: 'RolloutNotFound' })
    expect(await org.agent(slug)).toMatchObject({ currentVersionId: current.id, rollout: null })
  })

  it('names each member that is not valid', async () => {
    const { draft } = await anAgent('invalid')
    const versionId = draft.id
    const problems = async (body: object) => {
      const { status, json } = await put('invalid', body)
      expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
      return idsOf(json.errors, 'path')
    }
    expect(await problems({})).toEqual(['/versionId', '/percent'])
    const wrong = await problems({ versionId: 'draft', percent: 0, key: 'run', extra: 1 })
    expect(wrong).toEqual(expect.arrayContaining(['/versionId', '/percent', '/key']))
    for (const percent of [0.99, 100.01, 33.333, 1.000_000_1, '10', null])
      expect(await problems({ versionId, percent })).toEqual(['/percent'])
    for (const abort of [{}, { minRuns: 5 }, [], { maxErrorRate: null }])
      expect(await problems({ versionId, percent: 1, abort })).toEqual(['/abort'])
    const abort = { maxErrorRate: 1.1, minRuns: 0 }
    const ofAbort = ['/abort/maxErrorRate', '/abort/minRuns']
    expect(await problems({ versionId, percent: 1, abort })).toEqual(expect.arrayContaining(ofAbort))
    for (const trial of ['x', '', 1])
      expect(await problems({ versionId, percent: 1, trial })).toEqual(['/trial'])
    const missing = await put('invalid', { versionId: system.newId(), percent: 1 })
    expect(missing.json.code).toBe('VersionNotFound')
    expect((await put('unknown', { versionId, percent: 1 })).json.code).toBe('AgentNotFound')
  })
})

it('tells tenants that a rollout was aborted, but not the figures of all tenants', async () => {
  const { draft } = await anAgent('aborted')
  await put('aborted', { versionId: draft.id, percent: 5 })
  const { agents } = openStores(sharedTable())
  const reference = { store: agents, organizationId: org.id, idOrSlug: 'aborted' }
  const { id: agentId, rollout } = await getRollout(reference)
  const reason = '4 of 20 runs have failed: 20 %, more than 5 %.'
  const at = new Date(system.now()).toISOString()
  const figures = {} as never
  const aborted = { ...rollout, id: system.newId(), at, reason, figures }
  expect(await org.agent('aborted')).not.toHaveProperty('abortedRollout')
  await agents.endRollout({ organizationId: org.id, agentId, rollout, aborted })
  const bound = await org.withLimits({ tenantId: 'acme' })
  for (const [send, expected] of [
    [org.call, { at, reason }],
    [bound, { at }],
  ] as const) {
    const [version] = (await send('GET', '/v1/agents/aborted/versions')).json
    expect(version.abortedRollout).toEqual(expected)
    const [agent] = (await send('GET', '/v1/agents')).json.filter(({ id }: { id: string }) => id === agentId)
    expect(agent.abortedRollout).toEqual({ versionId: draft.id, at })
  }
})
