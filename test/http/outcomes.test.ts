import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'

let own: TestOrganization
const RUN = '/v1/agents/misbehave/executions'

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('misbehave')
})

/** Ways to fail (see the agent of this name), the code that the record gets, and what its message must tell. */
const FAILURES: [how: string, code: string, tells: string][] = [
  ['throw', 'AgentFailed', 'it broke'],
  ['throw a string', 'AgentFailed', 'just text'],
  ['throw nothing', 'AgentFailed', 'undefined'],
  ['return nothing', 'OutputSchemaMismatch', 'JSON object'],
  ['return a list', 'OutputSchemaMismatch', 'JSON object'],
  ['return a wrong type', 'OutputSchemaMismatch', 'output schema'],
  ['return an unknown field', 'OutputSchemaMismatch', 'output schema'],
  ['return a cycle', 'OutputSchemaMismatch', 'written as JSON'],
  ['return a bigint', 'OutputSchemaMismatch', 'written as JSON'],
  ['return deep', 'OutputSchemaMismatch', '100 levels'],
  ['return too much', 'OutputTooLarge', '6000000'],
  ['never return', 'TimedOut', '1 seconds'],
]

describe('an agent that fails', () => {
  it.each(FAILURES)('by "%s" ends in ERROR %s, sync and async', async (how, code, tells) => {
    const sync = await own.call('POST', RUN, { body: { how } })
    expect(sync.status).toBe(500)
    expect(sync.headers.get('content-type')).toBe('application/problem+json')
    expect(sync.json).toMatchObject({ code: 'ExecutionFailed', error: { code } })
    expect(sync.json.error.message).toContain(tells)
    const record = (await own.call('GET', `/v1/agent_executions/${sync.json.executionId}`)).json
    expect(record).toMatchObject({ status: 'ERROR', output: null, error: sync.json.error })
    expect(sync.headers.get('x-execution-id')).toBe(record.id)

    const async = await own.call('POST', `${RUN}?execMode=async`, { body: { how } })
    expect(async.status).toBe(202)
    expect(await finalExecution(own.call, async.json.id)).toMatchObject({
      status: 'ERROR',
      error: sync.json.error,
    })
  })

  it('by a module that throws when it is imported ends in ERROR AgentFailed', async () => {
    await own.publish('unloadable')
    const path = '/v1/agents/unloadable/executions'
    const sync = await own.call('POST', path, { body: { text: 'a' } })
    expect(sync.json).toMatchObject({ code: 'ExecutionFailed', error: { code: 'AgentFailed' } })
    expect(sync.json.error.message).toContain('agent.ts cannot be loaded')
    const async = await own.call('POST', `${path}?execMode=async`, { body: { text: 'a' } })
    expect(await finalExecution(own.call, async.json.id)).toMatchObject({ error: sync.json.error })
  })

  it.each(['throw later', 'reject unseen'])(
    'by "%s", out of its own promises, leaves the service up',
    async (how) => {
      const answer = await own.call('POST', RUN, { body: { how } })
      expect(answer.json).toMatchObject({ code: 'ExecutionFailed', error: { code: 'TimedOut' } })
      expect((await own.call('GET', '/v1/healthcheck')).json).toEqual({ success: true })
    },
  )

  it('by a wrong output says where it is wrong', async () => {
    const { json } = await own.call('POST', RUN, { body: { how: 'return a wrong type' } })
    expect(json.error.errors).toEqual([
      { path: '/result', message: '/result must be a string, not a number.' },
    ])
  })

  it('does not when what it returns becomes a valid output as JSON', async () => {
    const { json } = await own.call('POST', RUN, { body: { how: 'return a date' } })
    expect(json).toEqual({ result: '1970-01-01T00:00:00.000Z' })
  })
})

describe('a cancelled run', () => {
  it('is stopped, and answers its sync caller', async () => {
    await own.publish('wait')
    const waiting = own.call('POST', '/v1/agents/wait/executions', { body: { seconds: 60 } })
    let id = ''
    while (!id) {
      const { json } = await own.call('GET', '/v1/agents/wait/executions?status=IN_PROGRESS')
      id = json[0]?.id ?? ''
    }
    await own.call('POST', `/v1/agent_executions/${id}/cancel`)
    const answer = await waiting
    expect(answer.status).toBe(500)
    expect(answer.json).toMatchObject({
      code: 'ExecutionFailed',
      executionId: id,
      error: { code: 'Cancelled' },
    })
  })
})
