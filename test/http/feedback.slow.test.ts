import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { agentIdOf } from '../../lib/core/ids.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'
import { type ApiClient, getExecutionId } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('echo', 'failing', 'wait')

const createExecution = async () => getExecutionId(await org.run('echo', { text: 'said' }))
const giveFeedback = (id: string, body: object) =>
  org.call('PUT', `/v1/agent_executions/${id}/feedback`, { body })

describe('PUT feedback', () => {
  it('returns the record, which contains the feedback from now on, also in lists', async () => {
    const id = await createExecution()
    const before = await org.getExecution(id)
    expect(before).toMatchObject({ feedback: null, learnedFrom: [] })
    const given = { rating: -1, correctedOutput: { text: 'meant' }, note: 'No.' }
    const { status, json } = await giveFeedback(id, given)
    const updatedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
    expect([status, json]).toEqual([200, { ...before, feedback: { ...given, updatedAt } }])
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

  it('validates a correction against the version that ran, not the current one', async () => {
    const other = await newOrganization()
    const first = await other.publish('echo')
    const id = getExecutionId(await other.run('echo', { text: 'x' }))
    const outputSchema = { answer: { type: 'string' } }
    await aModelAgent({ organizationId: other.id, slug: 'echo', outputSchema }, { table: sharedTable() })
    const correct = (correctedOutput: object) =>
      other.call('PUT', `/v1/agent_executions/${id}/feedback`, { body: { rating: -1, correctedOutput } })
    expect((await correct({ answer: 'y' })).json.code).toBe('FeedbackMismatch')
    const { json } = await correct({ text: 'y' })
    expect(json).toMatchObject({ versionId: first.id, feedback: { correctedOutput: { text: 'y' } } })
  })

  it('names each field that is invalid, and keeps the feedback of before', async () => {
    const id = await createExecution()
    const before = (await giveFeedback(id, { rating: 1, note: 'kept' })).json
    const invalid: [object, string][] = [
      [{}, '/rating'],
      [{ rating: 0 }, '/rating'],
      [{ rating: '1' }, '/rating'],
      [{ rating: 1, 'a/b~c': 1 }, '/a~1b~0c'],
      [{ rating: 1, ['n'.repeat(10_000)]: 1 }, `/${'n'.repeat(64)}`],
      [{ rating: 1, note: 'n'.repeat(2_001) }, '/note'],
      [{ rating: 1, correctedOutput: 'text' }, '/correctedOutput'],
      [{ rating: 1, correctedOutput: {} }, '/correctedOutput/text'],
      [{ rating: 1, correctedOutput: { text: 'a', '~/': 1 } }, '/correctedOutput/~0~1'],
    ]
    for (const [body, path] of invalid) {
      const { json } = await giveFeedback(id, body)
      expect([json.code, json.errors[0].path]).toEqual(['FeedbackMismatch', path])
      expect(json.errors[0].message.startsWith(path)).toBe(true)
    }
    expect(await org.getExecution(id)).toEqual(before)
  })
})

/** What runs learn from an execution after the client has corrected it. */
async function correct(client: ApiClient) {
  const id = await createExecution()
  const body = { rating: -1, correctedOutput: { text: 'corrected' } }
  const { status } = await client('PUT', `/v1/agent_executions/${id}/feedback`, { body })
  const [example] = await executionStore(sharedTable()).getExamples({
    ...{ organizationId: org.id, agentId: agentIdOf(org.id, 'echo'), tenantId: null },
    ids: [id],
  })
  return { status, taught: example?.output.text, shown: (await org.getExecution(id)).feedback?.rating }
}

describe('what feedback teaches', () => {
  it.each([
    [['run'], 'said'],
    [['run', 'read'], 'said'],
    [['review'], 'corrected'],
    [['manage'], 'corrected'],
    [['run', 'review'], 'corrected'],
    [null, 'corrected'],
  ] as const)('of a token with the scopes %j teaches that the output is "%s"', async (scopes, taught) => {
    const client = await org.withLimits({ scopes: scopes && [...scopes] })
    expect(await correct(client)).toEqual({ status: 200, taught, shown: -1 })
  })

  it('of a token with the scope read alone is refused', async () => {
    const client = await org.withLimits({ scopes: ['read'] })
    expect(await correct(client)).toEqual({ status: 403, taught: 'said', shown: undefined })
  })
})
