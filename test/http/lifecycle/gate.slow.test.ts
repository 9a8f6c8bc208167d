import { beforeAll, describe, expect, it } from 'vitest'
import { checkDocument } from '../../../lib/agents/document/check-document.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import type { Batch } from '../../../lib/core/batch.ts'
import type { TrialSums } from '../../../lib/core/trial.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { batchStore } from '../../../lib/dynamodb/batch-store.ts'
import { system } from '../../../lib/system.ts'
import { anEndedTrial } from '../../support/batches/a-batch.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { documentOf, type Lifecycle, newLifecycle } from './lifecycle-client.ts'

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const batches = batchStore(sharedTable())
const GATE = 'require: trial, maxChanged: 1, maxError: 0'

type Body = { draft?: boolean; message?: string }

/** Publishes a model agent. `gate`: its `execution.promotion`, null for none. */
const tryToPublish = (slug: string, text: string, gate: string | null = null, body: Body = {}) => {
  const extra = gate === null ? '' : `execution: { promotion: { ${gate} } }\n`
  const document = documentOf(slug, extra).replace('code: true\n', '') + text
  return org.post('/v1/agents', { document, ...body })
}

async function publish(...params: Parameters<typeof tryToPublish>) {
  const { status, json, text } = await tryToPublish(...params)
  expect([200, 201], text).toContain(status)
  return json
}

/** An agent whose current version has the gate, and a draft. */
async function gated(slug: string, gate = GATE) {
  const current = await publish(slug, 'A', gate)
  return { current, draft: await publish(slug, 'B', gate, { draft: true }) }
}

async function storeTrial(
  version: { id: string; documentId: string },
  sums: Parameters<typeof anEndedTrial>[1] = { SAME: 1 },
  overrides: Partial<Omit<Batch, 'lines' | 'blocks'>> = {},
): Promise<string> {
  const of = { organizationId: org.id, agentId: version.documentId, versionId: version.id }
  const { batch, lines } = anEndedTrial(of, sums, overrides)
  expect(await batches.create({ batch, lines })).not.toBeNull()
  return batch.id
}

const promote = (slug: string, { id }: { id: string }, trial?: string) =>
  org.post(`/v1/agents/${slug}/versions/${id}/promote${trial === undefined ? '' : `?trial=${trial}`}`)

const codeOf = ({ status, json }: { status: number; json: { code?: string } }) => [status, json.code]
const currentOf = async (slug: string) => (await org.agent(slug)).currentVersionId

describe.concurrent('promote with a trial', () => {
  it('makes the version current if the trial meets the gate of the current one', async () => {
    const { draft } = await gated('met')
    const trial = await storeTrial(draft, { SAME: 8, CHANGED: 1, CORRECTED: 1 })
    const { status, json } = await promote('met', draft, trial.toUpperCase())
    expect([status, json.currentVersionId]).toEqual([200, draft.id])
    // A retry of the request, with a trial that may be gone by now.
    expect((await promote('met', draft, system.newId())).status).toBe(200)
  })

  it('is 409 TrialFailed with the figures if it does not', async () => {
    const { current, draft } = await gated('unmet', `${GATE}, minRuns: 20, maxCostIncrease: 0.1`)
    const sums = { SAME: 8, CHANGED: 2, DIVERGED: 1, ERROR: 1, originalTotal: 1, trialTotal: 1.5 }
    const trialId = await storeTrial(draft, sums)
    const { status, json } = await promote('unmet', draft, trialId)
    expect([status, json]).toMatchObject([
      409,
      {
        code: 'TrialFailed',
        trialId,
        runs: 12,
        verdicts: { SAME: 8, CHANGED: 2, CORRECTED: 0, REGRESSED: 0, DIVERGED: 1, ERROR: 1 },
        costIncrease: 0.5,
        limits: { minRuns: 20, maxChanged: 1, maxError: 0, maxCostIncrease: 0.1 },
      },
    ])
    expect(json.detail.split('. ')).toHaveLength(4)
    expect(await currentOf('unmet')).toBe(current.id)
  })

  it('is 409 TrialFailed for a trial that is in progress, was cancelled or has no runs', async () => {
    const { draft } = await gated('useless')
    const cancelled = { code: 'Cancelled', message: 'The batch was cancelled on request.' }
    const trials = await Promise.all([
      storeTrial(draft, {}, { status: 'IN_PROGRESS', sums: null }),
      storeTrial(draft, {}, { status: 'CANCELLING', stopped: cancelled, sums: null }),
      storeTrial(draft, { SAME: 100 }, { stopped: cancelled }),
      storeTrial(draft, {}),
    ])
    const responses = await Promise.all(trials.map((trial) => promote('useless', draft, trial)))
    expect(responses.map(({ json }) => [json.code, json.detail])).toEqual([
      ['TrialFailed', 'The trial has not ended.'],
      ['TrialFailed', 'The trial was cancelled.'],
      ['TrialFailed', 'The trial was cancelled.'],
      ['TrialFailed', 'The trial has 0 runs, fewer than 1 (minRuns).'],
    ])
  })

  it('accepts one that ended at its cost limit, with the runs that it has', async () => {
    const { draft } = await gated('bounded', 'require: trial, minRuns: 3')
    const stopped = { code: 'BudgetExceeded', message: 'The lines have reached the cost limit.' }
    const [few, enough] = [
      await storeTrial(draft, { SAME: 2 }, { stopped }),
      await storeTrial(draft, { SAME: 3 }, { stopped }),
    ]
    expect((await promote('bounded', draft, few)).json.limits).toEqual({ minRuns: 3 })
    expect((await promote('bounded', draft, enough)).status).toBe(200)
  })

  it('is 404 TrialNotFound for any other trial, and for a batch', async () => {
    const { current, draft } = await gated('others')
    const { draft: foreign } = await gated('others-2')
    const trials = [
      system.newId(),
      await storeTrial(current),
      await storeTrial(foreign),
      await storeTrial({ id: draft.id, documentId: foreign.documentId }),
      await storeTrial(draft, { SAME: 1 }, { organizationId: system.newId() }),
      await storeTrial(draft, { SAME: 1 }, { trial: null }),
    ]
    for (const trial of trials)
      expect(codeOf(await promote('others', draft, trial))).toEqual([404, 'TrialNotFound'])
    expect(codeOf(await promote('others', draft, 'mine'))).toEqual([400, 'InvalidQueryParameter'])
    expect(codeOf(await promote('others', { id: system.newId() }, trials[1]))).toEqual([
      404,
      'VersionNotFound',
    ])
    expect(await currentOf('others')).toBe(current.id)
  })

  it('decides by the current document: a draft that relaxes the gate has to meet the one before', async () => {
    await publish('relaxed', 'A', GATE)
    const draft = await publish('relaxed', 'B', 'maxError: 9', { draft: true })
    const trial = await storeTrial(draft, { ERROR: 1 })
    expect(codeOf(await promote('relaxed', draft))).toEqual([409, 'TrialRequired'])
    expect(codeOf(await promote('relaxed', draft, trial))).toEqual([409, 'TrialFailed'])
  })

  it('applies limits without require only to a trial that is named', async () => {
    await publish('optional', 'A', 'maxError: 0')
    const draft = await publish('optional', 'B', null, { draft: true })
    expect(codeOf(await promote('optional', draft, await storeTrial(draft, { ERROR: 1 })))).toEqual([
      409,
      'TrialFailed',
    ])
    expect((await promote('optional', draft)).status).toBe(200)
  })

  it('checks the trial of a version that comes back, if one is named', async () => {
    const old = await publish('checked', 'A', GATE)
    const draft = await publish('checked', 'B', GATE, { draft: true })
    expect((await promote('checked', draft, await storeTrial(draft))).status).toBe(200)
    expect(codeOf(await promote('checked', old, await storeTrial(old, { ERROR: 1 })))).toEqual([
      409,
      'TrialFailed',
    ])
    expect((await promote('checked', old)).json.currentVersionId).toBe(old.id)
  })

  it('tells nothing about trials of archived agents and retired versions', async () => {
    const { draft } = await gated('resting')
    const trial = await storeTrial(draft)
    await org.post(`/v1/agents/resting/versions/${draft.id}/retire`)
    expect(codeOf(await promote('resting', draft, trial))).toEqual([409, 'VersionRetired'])
    await org.post('/v1/agents/resting/archive')
    expect(codeOf(await promote('resting', draft, trial))).toEqual([410, 'AgentArchived'])
  })
})

describe.concurrent('execution.promotion.require: trial', () => {
  it('exempts the first version, and content that is current', async () => {
    const first = await publish('first', 'A', GATE)
    expect(await tryToPublish('first', 'A', GATE)).toMatchObject({ status: 200, json: { id: first.id } })
    const draft = await publish('first-draft', 'A', GATE, { draft: true })
    expect((await promote('first-draft', draft)).status).toBe(200)
  })

  it('refuses other content with 409 TrialRequired, and leaves nothing behind', async () => {
    const { current, draft } = await gated('direct')
    // Other content, content without the gate, and the content of the draft, which would promote it.
    for (const [text, gate] of [
      ['C', GATE],
      ['A', null],
      ['B', GATE],
    ] as const)
      expect(codeOf(await tryToPublish('direct', text, gate))).toEqual([409, 'TrialRequired'])
    expect(await org.agent('direct')).toMatchObject({
      currentVersionId: current.id,
      draftVersionId: draft.id,
    })
    expect((await org.versions('direct')).map(({ id, status }) => [id, status])).toEqual([
      [draft.id, 'DRAFT'],
      [current.id, 'PUBLISHED'],
    ])
  })

  it('publishes drafts, and allows a version that was current to come back', async () => {
    const old = await publish('back', 'A')
    const current = await publish('back', 'B', GATE)
    const draft = await publish('back', 'C', GATE, { draft: true })
    expect((await promote('back', old)).status).toBe(200)
    // The version that is current now has no gate.
    expect((await promote('back', draft)).status).toBe(200)
    expect((await promote('back', current)).status).toBe(200)
    for (const version of [old, draft, current]) expect((await promote('back', version)).status).toBe(200)
  })

  it('refuses a draft whose promotion was refused after it had begun', async () => {
    const { draft } = await gated('half')
    const store = agentStore(sharedTable())
    // As a promotion does that loses against another one.
    const ids = { organizationId: org.id, agentId: draft.documentId, id: draft.id }
    const other = { ...ids, id: system.newId() }
    const read = { draftVersionId: other.id, current: null, promotedAt: new Date().toISOString(), syncAt: 1 }
    expect(await store.promote({ ...ids, ...read })).toBeNull()
    expect((await org.versions('half'))[0]).toMatchObject({ id: draft.id, status: 'DRAFT' })
    expect(codeOf(await promote('half', draft))).toEqual([409, 'TrialRequired'])
    expect((await promote('half', draft, await storeTrial(draft))).status).toBe(200)
  })
})

describe.concurrent('a version that never was current', () => {
  it('does not come back without a trial after a rollout', async () => {
    await publish('rolled', 'A')
    const draft = await publish('rolled', 'B', null, { draft: true })
    const body = { versionId: draft.id, percent: 50, key: 'tenant' }
    expect((await org.call('PUT', '/v1/agents/rolled/rollout', { body })).status).toBe(200)
    expect((await org.versions('rolled'))[0]).toMatchObject({ id: draft.id, status: 'PUBLISHED' })
    const current = await publish('rolled', 'C', GATE)
    expect(codeOf(await promote('rolled', draft))).toEqual([409, 'TrialRequired'])
    expect(await currentOf('rolled')).toBe(current.id)
    expect((await promote('rolled', draft, await storeTrial(draft))).status).toBe(200)
  })

  it('does not become current without a trial if its publisher died', async () => {
    const { documentId } = await publish('orphan', 'A')
    const table = sharedTable()
    const dying = agentStore({
      ...table,
      update: (key, ...change) =>
        key.sk === 'AGENT' ? Promise.reject(new Error('The process died.')) : table.update(key, ...change),
    })
    const { document } = await checkDocument(`${documentOf('orphan').replace('code: true\n', '')}B`, {
      ...{ defaultSlug: null, hasCode: false, withCode: '', withoutCode: '' },
    })
    if (!document) throw new Error('The document is invalid.')
    const agent = { document, code: null }
    const params = { store: dying, system, organizationId: org.id, createdBy: org.id, agent, draft: false }
    await expect(publishAgent(params)).rejects.toThrow('The process died.')
    const [orphan] = await org.versions('orphan')
    expect(orphan).toMatchObject({ documentId, status: 'PUBLISHED' })
    await publish('orphan', 'C', GATE)
    expect(codeOf(await promote('orphan', orphan))).toEqual([409, 'TrialRequired'])
  })
})

describe('promotions at the same time', () => {
  const RACERS = 16

  it('that would replace a version with a gate have to meet it, also those that began before it', async () => {
    for (let round = 0; round < 3; round++) {
      const slug = `race-${round}`
      await publish(slug, 'A')
      // Drafts that each replace the one before: all can be promoted.
      const drafts = []
      for (let draft = 0; draft < RACERS; draft++)
        drafts.push(await publish(slug, `D${draft}`, GATE, { draft: true }))
      const responses = await Promise.all(drafts.map((draft) => promote(slug, draft)))
      const codes = responses.map(({ status, json }) => (status === 200 ? 'OK' : json.code))
      // The first one replaces the version without a gate; all others need a trial.
      expect(codes.toSorted()).toEqual(['OK', ...Array(RACERS - 1).fill('TrialRequired')])
      const winner = drafts[codes.indexOf('OK')]
      expect(await currentOf(slug)).toBe(winner.id)
      const failed: TrialSums['verdicts'][] = []
      for (const draft of drafts) {
        const again = await promote(slug, draft, await storeTrial(draft, { ERROR: 1 }))
        if (again.status !== 200) failed.push(again.json.verdicts)
      }
      expect(failed).toHaveLength(RACERS - 1)
    }
  })

  it('with trials end with one current version, and each of them was allowed', async () => {
    const { current } = await gated('all')
    const drafts = []
    for (let draft = 0; draft < RACERS; draft++)
      drafts.push(await publish('all', `D${draft}`, GATE, { draft: true }))
    const trials = await Promise.all(
      drafts.map((draft, index) => storeTrial(draft, index % 2 === 0 ? { SAME: 1 } : { ERROR: 1 })),
    )
    const responses = await Promise.all([
      ...drafts.map((draft, index) => promote('all', draft, trials[index])),
      ...['X', 'Y'].map((text) => tryToPublish('all', text)),
    ])
    const expected = [...drafts.map((_, index) => (index % 2 === 0 ? 200 : 409)), 409, 409]
    expect(responses.map(({ status }) => status)).toEqual(expected)
    const last = await currentOf('all')
    expect(drafts.findIndex(({ id }) => id === last) % 2).toBe(0)
    // Those that were current may come back without a trial; the others still may not.
    const back = await Promise.all(drafts.map((draft) => promote('all', draft)))
    expect(back.map(({ status }) => status)).toEqual(expected.slice(0, RACERS))
    expect((await promote('all', current)).status).toBe(200)
  })
})
