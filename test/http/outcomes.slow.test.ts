import { beforeAll, describe, expect, it } from 'vitest'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('failing', 'trimming')
const RUN = '/v1/agents/failing/executions'

beforeAll(async () => {
  // The first runs of a process load the code that runs agents, which must not count as the agent's time.
  await org.run('failing', { failure: 'return a date' })
  const { json } = await org.run('failing', { failure: 'return a date' }, 'execMode=async')
  await waitForExecution(org.call, json.id)
})

/** Inputs of the agent `failing`, with the error code and a part of the message in the record. */
const FAILURES: [failure: string, code: string, message: string][] = [
  ['throw', 'AgentFailed', 'it broke'],
  ['return nothing', 'OutputSchemaMismatch', 'JSON object'],
  ['return a wrong type', 'OutputSchemaMismatch', 'output schema'],
  ['return a cycle', 'OutputSchemaMismatch', 'serialized as JSON'],
  ['return deep', 'OutputSchemaMismatch', '100 levels'],
  ['return too much', 'OutputTooLarge', '6000000'],
]

describe('an agent that fails', () => {
  // One after the other: the start of a thread counts as the agent's time.
  it.each(FAILURES)('(%s) ends in ERROR with %s, sync and async', async (failure, code, message) => {
    const [sync, async] = await Promise.all([
      org.call('POST', RUN, { body: { failure } }),
      org.call('POST', `${RUN}?execMode=async`, { body: { failure } }),
    ])
    expect(sync.status).toBe(500)
    expect(sync.headers.get('content-type')).toBe('application/problem+json')
    expect(sync.json).toMatchObject({ code: 'ExecutionFailed', error: { code } })
    expect(sync.json.error.message).toContain(message)
    const record = await org.getExecution(sync.json.executionId)
    expect(record).toMatchObject({ status: 'ERROR', output: null, error: sync.json.error })
    expect(getExecutionId(sync)).toBe(record.id)

    expect(async.status).toBe(202)
    const ended = await waitForExecution(org.call, async.json.id)
    expect(ended).toMatchObject({ status: 'ERROR', error: sync.json.error })
  })
})

it('a code agent that fails on input that does not match its schema responds with 422 and the violations, and is recorded as a failed run', async () => {
  const input = { text: { not: 'a text' } }
  const { status, headers, json } = await org.run('trimming', input)
  expect(status).toBe(422)
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(json).toMatchObject({
    code: 'InputSchemaMismatch',
    errors: [{ path: '/text', message: '/text must be a string, not an object.' }],
  })
  expect(json.detail).toContain('trim is not a function')
  const record = await org.getExecution(json.executionId)
  expect(record).toMatchObject({ status: 'ERROR', output: null, input })
  expect(record.error).toMatchObject({ code: 'AgentFailed', errors: json.errors })
  expect(json.error).toEqual(record.error)
  expect(headers.get('location')).toBe(`/v1/agent_executions/${record.id}`)
})
