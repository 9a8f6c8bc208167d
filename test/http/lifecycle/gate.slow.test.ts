import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../../lib/agents/document/check-document.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import type { Batch } from '../../../lib/core/batch.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { batchStore } from '../../../lib/dynamodb/batch-store.ts'
import { system } from '../../../lib/system.ts'
import { anEndedTrial } from '../../support/batches/a-batch.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { modelDocumentOf, newLifecycle } from './lifecycle-client.ts'

const org = await newLifecycle()

const batches = batchStore(sharedTable())
const GATE = 'require: trial, maxChanged: 1, maxError: 0'

type Body = { draft?: boolean; message?: string }

/** Publishes a model agent. `gate`: its `execution.promotion`, null for none. */
const tryToPublish = (slug: string, text: string, gate: string | null = null, body: Body = {}) => {
  const extra = gate === null ? '' : `execution: { promotion: { ${gate} } }\n`
  const document = modelDocumentOf(slug, extra) + text
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
    const missing = await promote('others', { id: system.newId() }, trials[1])
    expect(codeOf(missing)).toEqual([404, 'VersionNotFound'])
    expect(await currentOf('others')).toBe(current.id)
  })
})

it.concurrent('execution.promotion.require: trial refuses other content with 409 TrialRequired, and leaves nothing behind', async () => {
  const { current, draft } = await gated('direct')
  // Other content, content without the gate, and the content of the draft, which would promote it.
  for (const [text, gate] of [
    ['C', GATE],
    ['A', null],
    ['B', GATE],
  ] as const)
    expect(codeOf(await tryToPublish('direct', text, gate))).toEqual([409, 'TrialRequired'])
  const ids = { currentVersionId: current.id, draftVersionId: draft.id }
  expect(await org.agent('direct')).toMatchObject(ids)
  expect((await org.versions('direct')).map(({ id, status }) => [id, status])).toEqual([
    [draft.id, 'DRAFT'],
    [current.id, 'PUBLISHED'],
  ])
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
    const options = { defaultSlug: null, hasCode: false, withCode: '', withoutCode: '' }
    const { document } = await checkDocument(`${modelDocumentOf('orphan')}B`, options)
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
