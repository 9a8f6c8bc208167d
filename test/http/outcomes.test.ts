import { beforeAll, describe, expect, it, vi } from 'vitest'
import { getExecutionId } from '../support/client.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import { waitForExecution } from '../support/wait-for-execution.ts'

let org: TestOrganization
const RUN = '/v1/agents/failing/executions'

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('failing')
  // The first runs of a process load the code that runs agents, which must not count as the agent's time.
  await org.run('failing', { failure: 'return a date' })
  const { json } = await org.run('failing', { failure: 'return a date' }, 'execMode=async')
  await waitForExecution(org.call, json.id)
})

/** Inputs of the agent `failing`, with the error code and a part of the message in the record. */
const FAILURES: [failure: string, code: string, message: string][] = [
  ['throw', 'AgentFailed', 'it broke'],
  ['throw a string', 'AgentFailed', 'just text'],
  ['throw nothing', 'AgentFailed', 'undefined'],
  ['return nothing', 'OutputSchemaMismatch', 'JSON object'],
  ['return a list', 'OutputSchemaMismatch', 'JSON object'],
  ['return a wrong type', 'OutputSchemaMismatch', 'output schema'],
  ['return an unknown field', 'OutputSchemaMismatch', 'output schema'],
  ['return a cycle', 'OutputSchemaMismatch', 'serialized as JSON'],
  ['return a bigint', 'OutputSchemaMismatch', 'serialized as JSON'],
  ['return deep', 'OutputSchemaMismatch', '100 levels'],
  ['return too much', 'OutputTooLarge', '6000000'],
  ['never return', 'TimedOut', '5 seconds'],
]

describe('an agent that fails', () => {
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
    expect(await waitForExecution(org.call, async.json.id)).toMatchObject({
      status: 'ERROR',
      error: sync.json.error,
    })
  })

  it('by throwing at import ends in ERROR with AgentFailed', async () => {
    await org.publish('unloadable')
    const path = '/v1/agents/unloadable/executions'
    const sync = await org.call('POST', path, { body: { text: 'a' } })
    expect(sync.json).toMatchObject({ code: 'ExecutionFailed', error: { code: 'AgentFailed' } })
    expect(sync.json.error.message).toContain('agent.ts cannot be loaded')
    const async = await org.call('POST', `${path}?execMode=async`, { body: { text: 'a' } })
    expect(await waitForExecution(org.call, async.json.id)).toMatchObject({ error: sync.json.error })
  })

  it.each(['throw later', 'reject unseen'])(
    'outside its own promises (%s) does not stop the service',
    async (failure) => {
      const response = await org.call('POST', RUN, { body: { failure } })
      expect(response.json).toMatchObject({ code: 'ExecutionFailed', error: { code: 'AgentFailed' } })
      expect((await org.call('GET', '/v1/healthcheck')).json).toEqual({ success: true })
    },
  )

  it('by returning an invalid output gets the path of the violation', async () => {
    const { json } = await org.call('POST', RUN, { body: { failure: 'return a wrong type' } })
    expect(json.error.errors).toEqual([
      { path: '/result', message: '/result must be a string, not a number.' },
    ])
  })

  it('may return a value that becomes valid when it is serialized as JSON', async () => {
    const { json } = await org.call('POST', RUN, { body: { failure: 'return a date' } })
    expect(json).toEqual({ result: '1970-01-01T00:00:00.000Z' })
  })
})

describe('a cancelled execution', () => {
  it('ends the synchronous request that started it', async () => {
    await org.publish('wait')
    const waiting = org.call('POST', '/v1/agents/wait/executions', { body: { seconds: 60 } })
    const id = await vi.waitUntil(async () => {
      const { json } = await org.call('GET', '/v1/agents/wait/executions?status=IN_PROGRESS')
      return json[0]?.id as string | undefined
    })
    await org.call('POST', `/v1/agent_executions/${id}/cancel`)
    const response = await waiting
    expect(response.status).toBe(500)
    expect(response.json).toMatchObject({
      code: 'ExecutionFailed',
      executionId: id,
      error: { code: 'Cancelled' },
    })
  })
})
