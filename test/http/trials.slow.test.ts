import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { waitUntil } from '../support/processes/processes.ts'
import { getExecutionId } from '../support/service/client.ts'

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

let own: TestOrganization
let draft: string
let originals: string[]

async function publish(code: string, isDraft: boolean): Promise<string> {
  const body = { document: DOCUMENT, code, ...(isDraft && { draft: true }) }
  const response = await own.call('POST', '/v1/agents', { body })
  expect(response.status, response.text).toBe(201)
  return response.json.id
}

async function run(text: string): Promise<string> {
  const response = await own.run(SLUG, { text }, 'tenantId=acme&execMode=async')
  const id = getExecutionId(response)
  const isFinal = async () => (await own.getExecution(id)).status !== 'IN_PROGRESS'
  await waitUntil(isFinal, { what: 'the end of the original', limitMs: 20_000 })
  return id
}

beforeAll(async () => {
  own = await newOrganization()
  await publish(SAME, false)
  originals = []
  for (const text of ['a', 'b', 'c', 'fails']) originals.push(await run(text))
  draft = await publish(DEFECT, true)
})

const start = (versionId: string, body: object = {}, headers = {}) =>
  own.call('POST', `/v1/agents/${SLUG}/versions/${versionId}/trials`, { body, headers })
async function started(...args: Parameters<typeof start>) {
  const response = await start(...args)
  expect(response.status, response.text).toBe(202)
  expect(response.headers.get('location')).toBe(`/v1/trials/${response.json.id}`)
  return response.json
}
const get = async (id: string) => (await own.call('GET', `/v1/trials/${id}`)).json
async function ended(id: string) {
  const hasEnded = async () => (await get(id)).status === 'ENDED'
  await waitUntil(hasEnded, { what: `the end of trial ${id}`, limitMs: 30_000 })
  return get(id)
}
const items = async (id: string, query = '') => (await own.call('GET', `/v1/trials/${id}/items${query}`)).json

describe('a trial', () => {
  it('repeats the executions of the agent on the draft, and tells what has changed', async () => {
    const trial = await started(draft, { ignore: ['/at'], maxConcurrency: 2 })
    expect(trial).toMatchObject({
      versionId: draft,
      lines: 4,
      maxTrialCostUsd: null,
      maxConcurrency: 2,
      tools: { default: 'recorded' },
      models: 'live',
      steps: 'recorded',
      ignore: ['/at'],
      tenantId: null,
      sums: null,
      error: null,
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
    expect(all.map((each: { originalExecutionId: string }) => each.originalExecutionId)).toEqual(
      originals.toReversed(),
    )
    const [, , changed] = all
    expect(changed).toMatchObject({
      originalExecutionId: originals[1],
      status: 'SUCCESS',
      verdict: 'CHANGED',
      differences: [{ path: '/text', original: 'b', trial: 'B' }],
      moreDifferences: false,
      error: null,
    })
    const execution = await own.getExecution(changed.executionId)
    expect(execution).toMatchObject({
      source: 'TRIAL',
      tenantId: 'acme',
      trialId: trial.id,
      originalExecutionId: originals[1],
      versionId: draft,
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
    const { status, json } = await start(draft, body)
    expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
    expect(json.errors.map((error: { path: string }) => error.path)).toEqual([path])
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
    expect(early.json.errors).toEqual([
      {
        path: '/document',
        field: 'scorers.0.agent',
        message: 'agent.md: scorers.0.agent: names "graded", which is not published: publish it first.',
      },
    ])
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
    expect(trial).toMatchObject({
      scorers: [{ agent: 'graded', tolerance: 0.1 }],
      verdicts: { EQUIVALENT: 1, CHANGED: 1 },
      sums: {
        scores: [{ agent: 'graded', runs: 2, unscored: 0, wins: 1, ties: 1, original: { mean: 0.4 } }],
      },
    })
    const [changed, equivalent] = await items(trial.id)
    expect(changed).toMatchObject({ verdict: 'CHANGED', scores: [{ original: 0.5, trial: 1 }] })
    expect(equivalent).toMatchObject({ verdict: 'EQUIVALENT', scores: [{ original: 0.3, trial: 0.3 }] })
    expect(await own.getExecution(equivalent.scores[0].trialScoreId)).toMatchObject({
      source: 'SCORE',
      scoredExecutionId: equivalent.executionId,
      parentExecutionId: equivalent.executionId,
    })
    const promoted = await own.call('POST', `${path}/promote?trial=${trial.id}`)
    expect(promoted.json).toMatchObject({
      code: 'TrialFailed',
      detail: 'Not enough runs: 2 of 2 have scores of graded on both sides, fewer than 20 (scores.graded).',
      limits: { scores: { graded: { maxDrop: 0.1 } } },
    })
  })
})
