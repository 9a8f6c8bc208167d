import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization } from '../support/engine/organization.ts'
import { getExecutionId, idsOf, waitForEnd, waitForExecution } from '../support/service/client.ts'

const SLUG = 'tried'
const codeOf = (body: string) => `export default async ({ text }) => { ${body} }`
const DOCUMENT = `---
title: Tried
slug: ${SLUG}
code: true
input: { text: { type: string } }
output: { text: { type: string }, at: { type: number } }
---
Repeats a text.
`
const SAME = codeOf(`if (text === 'fails') throw new Error('no'); return { text, at: 1 }`)
/** Another output for one of the texts. */
const DEFECT = codeOf(`return { text: text === 'b' ? 'B' : text, at: 2 }`)

const own = await newOrganization()
const originals: string[] = []
let draft: string

async function publish(code: string, isDraft: boolean): Promise<string> {
  const body = { document: DOCUMENT, code, ...(isDraft && { draft: true }) }
  const response = await own.call('POST', '/v1/agents', { body })
  expect(response.status, response.text).toBe(201)
  return response.json.id
}

beforeAll(async () => {
  await publish(SAME, false)
  for (const text of ['a', 'b', 'c', 'fails']) {
    const id = getExecutionId(await own.run(SLUG, { text }, 'tenantId=acme&execMode=async'))
    await waitForExecution(own.call, id)
    originals.push(id)
  }
  draft = await publish(DEFECT, true)
})

const start = (body: object) => own.call('POST', `/v1/agents/${SLUG}/versions/${draft}/trials`, { body })
const ended = (id: string) => waitForEnd(own.call, `/v1/trials/${id}`)
const items = async (id: string) => (await own.call('GET', `/v1/trials/${id}/items`)).json

describe('a trial', () => {
  it('repeats the executions of the agent on the draft, and tells what has changed', async () => {
    const { status, text, headers, json: trial } = await start({ ignore: ['/at'], maxConcurrency: 2 })
    expect(status, text).toBe(202)
    expect(headers.get('location')).toBe(`/v1/trials/${trial.id}`)
    expect(trial).toMatchObject({
      ...{ versionId: draft, lines: 4, maxTrialCostUsd: null, maxConcurrency: 2, ignore: ['/at'] },
      ...{ tools: { default: 'recorded' }, models: 'live', steps: 'recorded' },
      ...{ tenantId: null, sums: null, error: null },
    })
    const record = await ended(trial.id)
    // The original that failed succeeds now.
    const verdicts = { SAME: 2, CHANGED: 2, CORRECTED: 0, REGRESSED: 0, DIVERGED: 0, ERROR: 0 }
    expect(record).toMatchObject({
      status: 'ENDED',
      counts: { IN_PROGRESS: 0, SUCCESS: 4, ERROR: 0 },
      verdicts,
      sums: { runs: 4, verdicts, schemaViolations: 0 },
    })
    const all = await items(trial.id)
    expect(idsOf(all, 'originalExecutionId')).toEqual(originals.toReversed())
    const [, , changed] = all
    expect(changed).toMatchObject({
      ...{ status: 'SUCCESS', verdict: 'CHANGED', moreDifferences: false, error: null },
      differences: [{ path: '/text', original: 'b', trial: 'B' }],
    })
    const execution = await own.getExecution(changed.executionId)
    expect(execution).toMatchObject({
      ...{ source: 'TRIAL', tenantId: 'acme', trialId: trial.id, versionId: draft },
      originalExecutionId: originals[1],
    })
    expect(execution).not.toHaveProperty('batchId')
  })

  it.each([
    [{ limit: 0 }, '/limit'],
    [{ executions: ['01a2003a-d1f2-7169-a695-5ea4428d9251'] }, '/executions/0'],
    [{ tools: { default: 'maybe' } }, '/tools/default'],
    [{ tools: { unknown: 'recorded' } }, '/tools/unknown'],
    [{ ignore: ['date'] }, '/ignore/0'],
    [{ maxTrialCostUsd: 1 }, '/maxTrialCostUsd'],
  ])('is refused with %j', async (body, path) => {
    const { status, json } = await start(body)
    expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
    expect(idsOf(json.errors, 'path')).toEqual([path])
  })
})

describe('a trial with a scorer', () => {
  const document = (slug: string, more: string) =>
    `---\ntitle: T\nslug: ${slug}\ncode: true\ninput: { text: { type: string } }\noutput: { text: { type: string } }\n${more}\n---\n`
  const scorers =
    'scorers: [{ agent: graded }]\nexecution: { promotion: { require: trial, scores: { graded: { maxDrop: 0.1 } } } }'
  const publishAs = (slug: string, more: string, code: string, draft = false) =>
    own.call('POST', '/v1/agents', { body: { document: document(slug, more), code: codeOf(code), draft } })

  it('compares scores, and its gate is not met by few runs', async () => {
    const early = await publishAs('scored', scorers, 'return { text }')
    expect([early.status, early.json.code]).toEqual([422, 'InvalidAgent'])
    const message = 'agent.md: scorers.0.agent: names "graded", which is not published: publish it first.'
    expect(early.json.errors).toEqual([{ path: '/document', field: 'scorers.0.agent', message }])
    const grader = `---\ntitle: G\nslug: graded\ncode: true\ninput: { output: { type: object } }\noutput: { score: { type: number } }\n---\n`
    const code = 'export default ({ output }) => ({ score: output.text.length / 10 })'
    expect((await own.call('POST', '/v1/agents', { body: { document: grader, code } })).status).toBe(201)
    const { json: current, status } = await publishAs('scored', scorers, 'return { text }')
    expect([status, current.scorers]).toEqual([201, [{ agent: 'graded' }]])
    for (const text of ['abc', 'defgh']) expect((await own.run('scored', { text })).status).toBe(200)
    const upper = 'return { text: text === "abc" ? "ABC" : text.repeat(2) }'
    const { json: next } = await publishAs('scored', scorers, upper, true)
    const path = `/v1/agents/scored/versions/${next.id}`
    const trial = await ended((await own.call('POST', `${path}/trials`, { body: {} })).json.id)
    const scores = [{ agent: 'graded', runs: 2, unscored: 0, wins: 1, ties: 1, original: { mean: 0.4 } }]
    const verdicts = { EQUIVALENT: 1, CHANGED: 1 }
    const scorer = { agent: 'graded', tolerance: 0.1 }
    expect(trial).toMatchObject({ scorers: [scorer], verdicts, sums: { scores } })
    const [changed, equivalent] = await items(trial.id)
    expect(changed).toMatchObject({ verdict: 'CHANGED', scores: [{ original: 0.5, trial: 1 }] })
    expect(equivalent).toMatchObject({ verdict: 'EQUIVALENT', scores: [{ original: 0.3, trial: 0.3 }] })
    const { executionId: id } = equivalent
    expect(await own.getExecution(equivalent.scores[0].trialScoreId)).toMatchObject({
      ...{ source: 'SCORE', scoredExecutionId: id, parentExecutionId: id },
    })
    const promoted = await own.call('POST', `${path}/promote?trial=${trial.id}`)
    expect(promoted.json).toMatchObject({
      code: 'TrialFailed',
      detail: 'Not enough runs: 2 of 2 have scores of graded on both sides, fewer than 20 (scores.graded).',
      limits: { scores: { graded: { maxDrop: 0.1 } } },
    })
  })
})
