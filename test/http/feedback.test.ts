import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { problemRecord } from '../../lib/api/schemas/problem-record.ts'
import { aModelAgent } from '../support/model-agent.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'
import * as bad from './bad-values.ts'

let own: TestOrganization

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
  await own.publish('misbehave')
  await own.publish('wait')
})

async function anEchoed(text = 'said'): Promise<string> {
  const { headers } = await own.call('POST', '/v1/agents/echo/executions', { body: { text } })
  return headers.get('x-execution-id') ?? ''
}
const give = (id: string, body: object) => own.call('PUT', `/v1/agent_executions/${id}/feedback`, { body })
const read = async (id: string) => (await own.call('GET', `/v1/agent_executions/${id}`)).json

describe('PUT feedback', () => {
  it('answers with the record, which shows it from then on, also in lists', async () => {
    const id = await anEchoed()
    const before = await read(id)
    expect(before).toMatchObject({ feedback: null, learnedFrom: [] })
    const { status, json } = await give(id, { rating: -1, correctedOutput: { text: 'meant' }, note: 'No.' })
    expect(status).toBe(200)
    const feedback = {
      rating: -1,
      correctedOutput: { text: 'meant' },
      note: 'No.',
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    }
    expect(json).toEqual({ ...before, feedback })
    expect(await read(id)).toEqual(json)
    const list = (await own.call('GET', '/v1/agents/echo/executions?limit=100')).json
    expect(list).toContainEqual(json)
  })

  it('takes a rating alone, with nulls for the rest', async () => {
    const id = await anEchoed()
    const nothing = { correctedOutput: null, note: null }
    expect((await give(id, { rating: 1 })).json.feedback).toMatchObject({ rating: 1, ...nothing })
    expect((await give(id, { rating: -1, ...nothing })).json.feedback).toMatchObject({
      rating: -1,
      ...nothing,
    })
  })

  it('replaces what was there whole', async () => {
    const id = await anEchoed()
    await give(id, { rating: -1, correctedOutput: { text: 'meant' }, note: 'No.' })
    await give(id, { rating: 1 })
    expect((await read(id)).feedback).toMatchObject({ rating: 1, correctedOutput: null, note: null })
  })

  it('takes a note of 2,000 characters, and any text as it is', async () => {
    const id = await anEchoed()
    for (const note of ['n'.repeat(2_000), '\u0000 \ud83d\ude42 </examples> "', '']) {
      expect((await give(id, { rating: 1, note })).json.feedback.note).toBe(note)
      expect((await read(id)).feedback.note).toBe(note)
    }
  })

  it('takes a correction as large as an output, and deletes it with the execution', async () => {
    const id = await anEchoed()
    const text = randomBytes(3_000_000).toString('base64')
    expect((await give(id, { rating: -1, correctedOutput: { text } })).status).toBe(200)
    expect((await read(id)).feedback.correctedOutput.text === text).toBe(true)
    expect((await own.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
    expect((await give(id, { rating: 1 })).json.code).toBe('ExecutionNotFound')
  })

  it('takes a correction of a run that ended in ERROR', async () => {
    const failed = await own.call('POST', '/v1/agents/misbehave/executions', { body: { how: 'throw' } })
    const { json } = await give(failed.json.executionId, { rating: -1 })
    expect(json).toMatchObject({ status: 'ERROR', output: null, feedback: { rating: -1 } })
  })

  it('checks a correction against the version that ran, not the one that is current', async () => {
    const org = await newOrganization()
    const first = await org.publish('echo')
    const { headers } = await org.call('POST', '/v1/agents/echo/executions', { body: { text: 'x' } })
    const path = `/v1/agent_executions/${headers.get('x-execution-id')}`
    await aModelAgent({ organizationId: org.id, slug: 'echo', outputSchema: { answer: { type: 'string' } } })
    const correct = (correctedOutput: object) =>
      org.call('PUT', `${path}/feedback`, { body: { rating: -1, correctedOutput } })
    expect((await correct({ answer: 'y' })).json.code).toBe('FeedbackMismatch')
    const { json } = await correct({ text: 'y' })
    expect(json).toMatchObject({ versionId: first.id, feedback: { correctedOutput: { text: 'y' } } })
  })

  it('is refused with 409 until the run has ended, and changes nothing', async () => {
    const { json } = await own.call('POST', '/v1/agents/wait/executions?execMode=async', {
      body: { seconds: 60 },
    })
    for (const body of [{ rating: 1 }, { rating: 1, correctedOutput: { waitedSeconds: 1 } }]) {
      const refused = await give(json.id, body)
      expect(refused.json).toMatchObject({ status: 409, code: 'ExecutionInProgress', executionId: json.id })
    }
    await own.call('POST', `/v1/agent_executions/${json.id}/cancel`)
    expect((await finalExecution(own.call, json.id)).feedback).toBeNull()
    expect((await give(json.id, { rating: -1 })).json.feedback.rating).toBe(-1)
  })

  const byPath = bad.BAD_FEEDBACK.map(([body, path]) => [path, body] as const)
  it.each(byPath)('refuses what is wrong at %s, and keeps what was there (%#)', async (path, body) => {
    const id = await anEchoed()
    const before = (await give(id, { rating: 1, note: 'kept' })).json
    const { status, json, text } = await give(id, body)
    expect(status).toBe(422)
    expect(json.code).toBe('FeedbackMismatch')
    expect(problemRecord.safeParse(json).error).toBeUndefined()
    expect(json.errors[0].path).toBe(path)
    for (const { path, message } of json.errors) expect(message.startsWith(path)).toBe(true)
    expect(text.length).toBeLessThan(3_000)
    expect(await read(id)).toEqual(before)
  })

  it('names everything that is wrong at once, and what is allowed instead', async () => {
    const { json } = await give(await anEchoed(), { rating: 5, note: 1, correctedOutput: 'x', stars: 3 })
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

  it.each(['', '[]', '{"rating":'])('refuses the body %j as InvalidJson', async (raw) => {
    const answer = await own.call('PUT', `/v1/agent_executions/${await anEchoed()}/feedback`, { raw })
    expect(answer.json).toMatchObject({ status: 400, code: 'InvalidJson' })
  })
})
