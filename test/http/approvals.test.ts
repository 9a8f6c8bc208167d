import { describe, expect, it } from 'vitest'
import { getExecutionId, idsOf, type RequestOptions, waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const own = await organizationWith('asks', 'waits', 'calls-back')
const approver = await own.withLimits({ scopes: ['approve'] })

const BY_TEST = expect.stringMatching(/^test \([0-9a-f]{8}…[0-9a-f]{4}\)$/)

const decide = (path: string, body: object, client = approver) => client('POST', path, { body })

/** A run that waits for an approval. */
async function waiting(tenantId = 'acme') {
  const response = await own.run('asks', { usd: 200 }, `tenantId=${tenantId}`)
  const executionId = getExecutionId(response)
  const { id } = response.json.waitingFor[0]
  const path = `/v1/agent_executions/${executionId}/approvals/${id}`
  return { executionId, id, path }
}

describe('POST …/approvals/{approvalId}', () => {
  it('decides, and the run goes on', async () => {
    const { executionId, id, path } = await waiting()
    const { status, json } = await decide(path, { decision: 'approve', note: 'Fine.', input: { usd: 100 } })
    const given = { decision: 'approve', note: 'Fine.', input: { usd: 100 }, by: BY_TEST }
    const decision = { ...given, id, executionId, decidedAt: expect.stringMatching(/Z$/) }
    expect([status, json]).toEqual([200, decision])
    const record = await waitForExecution(own.call, executionId)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { decision: 'approve', usd: 100 } })
    expect(record.tokenId).toMatch(/^[0-9a-f-]{36}$/)
    expect((await decide(path, { decision: 'approve', input: { usd: 100 } })).json).toEqual(json)
    const [step] = (await own.call('GET', `/v1/agent_executions/${executionId}/steps`)).json
    expect(step).toMatchObject({ wait: { kind: 'approval', data: { usd: 200 } }, result: given })
  })

  it('answers 409 to another decision, and after the end', async () => {
    const { executionId, path } = await waiting()
    expect((await decide(path, { decision: 'reject' })).status).toBe(200)
    const other = await decide(path, { decision: 'approve' })
    expect([other.status, other.json.code, other.json.decision]).toEqual([409, 'ApprovalDecided', 'reject'])
    expect(await waitForExecution(own.call, executionId)).toMatchObject({ output: { decision: 'reject' } })

    const cancelled = await waiting()
    await own.call('POST', `/v1/agent_executions/${cancelled.executionId}/cancel`)
    const late = await decide(cancelled.path, { decision: 'approve' })
    expect([late.status, late.json.code]).toEqual([409, 'ExecutionEnded'])
  })

  it.each([
    ['without a decision', {}, '/decision'],
    ['with a note that is too long', { decision: 'reject', note: 'x'.repeat(2_001) }, '/note'],
    ['with a note that is no text', { decision: 'reject', note: '\ud800' }, '/note'],
    ['with an input that is no object', { decision: 'approve', input: 5 }, '/input'],
    ['with an input beside a rejection', { decision: 'reject', input: {} }, '/input'],
    ['with another field', { decision: 'approve', by: 'Bob' }, '/by'],
  ])('answers 422 to a body %s', async (_, body, path) => {
    const { json, status } = await decide((await waiting()).path, body)
    expect([status, json.code, json.errors[0].path]).toEqual([422, 'InputSchemaMismatch', path])
  })
})

it('GET /v1/approvals filters by agent and tenant, and shows limited tokens their own', async () => {
  const { executionId } = await waiting('filtered')
  const listed = async (query: string, client = approver) => {
    const { json } = await client('GET', `/v1/approvals?limit=100&${query}`)
    return json.code ?? idsOf(json, 'executionId')
  }
  expect(await listed('tenantId=filtered')).toEqual([executionId])
  expect(await listed('tenantId=filtered&agent=asks')).toEqual([executionId])
  expect(await listed('agent=nobody')).toBe('AgentNotFound')
  expect(await listed('', await own.withLimits({ tenantId: 'filtered' }))).toEqual([executionId])
  expect(await listed('', await own.withLimits({ tenantId: 'globex' }))).toEqual([])
  expect(await listed('', await own.withLimits({ agents: ['echo'] }))).toEqual([])
  expect(await listed('agent=asks', await own.withLimits({ agents: ['echo'] }))).toBe('AgentNotFound')
  expect(await listed('', await own.withLimits({ scopes: ['run'] }))).toBe('Forbidden')
  expect(await listed('cursor=x')).toBe('InvalidQueryParameter')
})

const send = (id: string, name: string, options: RequestOptions = {}) =>
  own.call('POST', `/v1/agent_executions/${id}/signals/${name}`, options)

const listed = async (id: string) => (await own.call('GET', `/v1/agent_executions/${id}/signals`)).json

/** A run that is suspended on the signal `go`. */
const suspended = async () => getExecutionId(await own.run('waits', { signal: 'go' }))

describe('a signal', () => {
  it('resumes the run that waits for it', async () => {
    const id = await suspended()
    const response = await send(id, 'go', { body: { paid: true } })
    expect([response.status, response.json]).toEqual([202, { executionId: id, id: expect.any(String) }])
    const record = await waitForExecution(own.call, id)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { data: '{"paid":true}' }, attempts: 2 })
  })

  it.each(['null', 'true', '[]', '""', '12345678901234567890.10', '{"__proto__":{"a":1},"constructor":2}'])(
    'can be any JSON, and keeps it as it was sent: %s',
    async (raw) => {
      const id = await suspended()
      expect((await send(id, 'kept', { raw })).status).toBe(202)
      const { text } = await own.call('GET', `/v1/agent_executions/${id}/signals`)
      expect(text).toContain(`"data":${raw},`)
      expect((await send(id, 'go', { raw })).status).toBe(202)
      await waitForExecution(own.call, id)
      const steps = await own.call('GET', `/v1/agent_executions/${id}/steps`)
      expect(steps.text).toContain(`"result":${raw},`)
    },
  )

  it('has at most 256 kB', async () => {
    const id = await suspended()
    const statusOf = async (raw: string) => {
      const { status, json } = await send(id, 'large', { raw })
      return [status, json.code]
    }
    expect(await statusOf(JSON.stringify('x'.repeat(255_998)))).toEqual([202, undefined])
    expect(await statusOf(JSON.stringify('x'.repeat(255_999)))).toEqual([413, 'PayloadTooLarge'])
    expect(await statusOf(JSON.stringify('x'.repeat(5_000_000)))).toEqual([413, 'PayloadTooLarge'])
    // A number that becomes longer.
    expect(await statusOf(`[${Array(20_000).fill('1e20').join()}]`)).toEqual([413, 'PayloadTooLarge'])
    const [kept] = await listed(id)
    expect(kept.data).toHaveLength(255_998)
  })
})

it('data that violates the schema of a wait is refused while the run waits', async () => {
  const id = getExecutionId(await own.run('calls-back', {}))
  const { status, json } = await send(id, 'paid', { body: { id: 1 } })
  expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
  expect(json.errors).toMatchObject([{ path: '/id' }])
  expect(await listed(id)).toEqual([])
  expect((await send(id, 'paid', { body: { id: '1' } })).status).toBe(202)
  expect(await waitForExecution(own.call, id)).toMatchObject({ output: { id: '1' } })
})
