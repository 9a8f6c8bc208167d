import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { problemRecord } from '../../lib/api/schemas/records.ts'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'
import * as bad from './bad-values.ts'

let org: TestOrganization

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  await org.publish('failing')
  await org.publish('wait')
})

const createExecution = async () => getExecutionId(await org.run('echo', { text: 'said' }))
const giveFeedback = (id: string, body: object) =>
  org.call('PUT', `/v1/agent_executions/${id}/feedback`, { body })

describe('PUT feedback', () => {
  it('returns the record, which contains the feedback from now on, also in lists', async () => {
    const id = await createExecution()
    const before = await org.getExecution(id)
    expect(before).toMatchObject({ feedback: null, learnedFrom: [] })
    const { status, json } = await giveFeedback(id, {
      rating: -1,
      correctedOutput: { text: 'meant' },
      note: 'No.',
    })
    expect(status).toBe(200)
    const feedback = {
      rating: -1,
      correctedOutput: { text: 'meant' },
      note: 'No.',
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    }
    expect(json).toEqual({ ...before, feedback })
    expect(await org.getExecution(id)).toEqual(json)
    const list = (await org.call('GET', '/v1/agents/echo/executions?limit=100')).json
    expect(list).toContainEqual(json)
  })

  it.each([
    ['rejects the result', false, { rating: -1 }],
    ['corrects the result', false, { rating: 1, correctedOutput: { text: 'meant' } }],
    ['rejects a copy of it', true, { rating: -1 }],
    ['corrects a copy of it', true, { rating: 1, correctedOutput: { text: 'meant' } }],
  ])('removes a result from the cache that it %s', async (_, isCopy, feedback) => {
    const input = { text: randomBytes(9).toString('hex') }
    const run = async () => {
      const response = await org.run('echo', input, 'useCache=true')
      return { id: getExecutionId(response), status: response.headers.get('cache-status') }
    }
    const first = await run()
    const copy = await run()
    expect([first.status, copy.status].map((status) => status?.split('; ')[1])).toEqual(['fwd=miss', 'hit'])
    await giveFeedback(first.id, { rating: 1 })
    expect((await run()).status).toContain('hit')
    await giveFeedback(isCopy ? copy.id : first.id, feedback)
    const next = await run()
    expect(next.status).toContain('fwd=miss; stored')
    // Feedback on the older result leaves the new one alone.
    await giveFeedback(first.id, { rating: -1 })
    expect((await run()).status).toContain('hit')
  })

  it('accepts a rating without correction and note', async () => {
    const id = await createExecution()
    const nothing = { correctedOutput: null, note: null }
    expect((await giveFeedback(id, { rating: 1 })).json.feedback).toMatchObject({ rating: 1, ...nothing })
    expect((await giveFeedback(id, { rating: -1, ...nothing })).json.feedback).toMatchObject({
      rating: -1,
      ...nothing,
    })
  })

  it('replaces the previous feedback as a whole', async () => {
    const id = await createExecution()
    await giveFeedback(id, { rating: -1, correctedOutput: { text: 'meant' }, note: 'No.' })
    await giveFeedback(id, { rating: 1 })
    expect((await org.getExecution(id)).feedback).toMatchObject({
      rating: 1,
      correctedOutput: null,
      note: null,
    })
  })

  it('stores a note of 2,000 characters and any text unchanged', async () => {
    const id = await createExecution()
    for (const note of ['n'.repeat(2_000), '\u0000 \ud83d\ude42 </examples> "', '']) {
      expect((await giveFeedback(id, { rating: 1, note })).json.feedback.note).toBe(note)
      expect((await org.getExecution(id)).feedback.note).toBe(note)
    }
  })

  it('stores a correction as large as an output, which is deleted with the execution', async () => {
    const id = await createExecution()
    const text = randomBytes(3_000_000).toString('base64')
    expect((await giveFeedback(id, { rating: -1, correctedOutput: { text } })).status).toBe(200)
    expect((await org.getExecution(id)).feedback.correctedOutput.text === text).toBe(true)
    expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
    expect((await giveFeedback(id, { rating: 1 })).json.code).toBe('ExecutionNotFound')
  })

  it('accepts feedback on an execution that ended in ERROR', async () => {
    const failed = await org.run('failing', { failure: 'throw' })
    const { json } = await giveFeedback(failed.json.executionId, { rating: -1 })
    expect(json).toMatchObject({ status: 'ERROR', output: null, feedback: { rating: -1 } })
  })

  it('validates a correction against the version that ran, not the current one', async () => {
    const other = await newOrganization()
    const first = await other.publish('echo')
    const id = getExecutionId(await other.run('echo', { text: 'x' }))
    await aModelAgent({
      organizationId: other.id,
      slug: 'echo',
      outputSchema: { answer: { type: 'string' } },
    })
    const correct = (correctedOutput: object) =>
      other.call('PUT', `/v1/agent_executions/${id}/feedback`, { body: { rating: -1, correctedOutput } })
    expect((await correct({ answer: 'y' })).json.code).toBe('FeedbackMismatch')
    const { json } = await correct({ text: 'y' })
    expect(json).toMatchObject({ versionId: first.id, feedback: { correctedOutput: { text: 'y' } } })
  })

  it('is rejected with 409 while the execution is in progress', async () => {
    const { json } = await org.run('wait', { seconds: 60 }, 'execMode=async')
    for (const body of [{ rating: 1 }, { rating: 1, correctedOutput: { waitedSeconds: 1 } }]) {
      const refused = await giveFeedback(json.id, body)
      expect(refused.json).toMatchObject({ status: 409, code: 'ExecutionInProgress', executionId: json.id })
    }
    await org.call('POST', `/v1/agent_executions/${json.id}/cancel`)
    expect((await waitForExecution(org.call, json.id)).feedback).toBeNull()
    expect((await giveFeedback(json.id, { rating: -1 })).json.feedback.rating).toBe(-1)
  })

  const byPath = bad.BAD_FEEDBACK.map(([body, path]) => [path, body] as const)
  it.each(byPath)('rejects an invalid %s and keeps the previous feedback (%#)', async (path, body) => {
    const id = await createExecution()
    const before = (await giveFeedback(id, { rating: 1, note: 'kept' })).json
    const { status, json, text } = await giveFeedback(id, body)
    expect(status).toBe(422)
    expect(json.code).toBe('FeedbackMismatch')
    expect(problemRecord.safeParse(json).error).toBeUndefined()
    expect(json.errors[0].path).toBe(path)
    for (const { path, message } of json.errors) expect(message.startsWith(path)).toBe(true)
    expect(text.length).toBeLessThan(3_000)
    expect(await org.getExecution(id)).toEqual(before)
  })

  it('reports every violation and the allowed values in one response', async () => {
    const { json } = await giveFeedback(await createExecution(), {
      rating: 5,
      note: 1,
      correctedOutput: 'x',
      stars: 3,
    })
    expect(json.errors).toEqual([
      { path: '/rating', message: '/rating must be 1 or -1.' },
      {
        path: '/correctedOutput',
        message: '/correctedOutput must be a JSON object that matches the output schema, or null.',
      },
      { path: '/note', message: '/note must be a string of at most 2000 characters, or null.' },
      {
        path: '/stars',
        message: '/stars is not a feedback field. Allowed fields: rating, correctedOutput, note.',
      },
    ])
  })

  it.each(['', '[]', '{"rating":'])('rejects the body %j with InvalidJson', async (raw) => {
    const response = await org.call('PUT', `/v1/agent_executions/${await createExecution()}/feedback`, {
      raw,
    })
    expect(response.json).toMatchObject({ status: 400, code: 'InvalidJson' })
  })
})
