import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import type { ApiClient, ApiResponse } from '../support/service/client.ts'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'

let own: TestOrganization
let approver: ApiClient
beforeAll(async () => {
  own = await newOrganization()
  await own.publish('asks')
  approver = await own.withLimits({ scopes: ['approve'] })
})

/** A run that waits for an approval. */
async function waiting(tenantId = 'acme') {
  const response = await own.run('asks', { usd: 200 }, `tenantId=${tenantId}`)
  const executionId = getExecutionId(response)
  const { id } = response.json.waitingFor[0]
  const path = `/v1/agent_executions/${executionId}/approvals/${id}`
  return { executionId, id, path }
}

const decide = (path: string, body: object, client = approver) => client('POST', path, { body })

/** Without the ID of the request. */
const comparable = ({ status, text, json }: ApiResponse) => [status, text.replaceAll(json.instance, '')]

describe('POST …/approvals/{approvalId}', () => {
  it('decides, and the run goes on', async () => {
    const { executionId, id, path } = await waiting()
    const { status, json } = await decide(path, { decision: 'approve', note: 'Fine.', input: { usd: 100 } })
    expect([status, json]).toEqual([
      200,
      {
        ...{ id, executionId, decision: 'approve', note: 'Fine.', by: 'test', input: { usd: 100 } },
        decidedAt: expect.stringMatching(/Z$/),
      },
    ])
    const record = await waitForExecution(own.call, executionId)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { decision: 'approve', usd: 100 } })
    expect(record.tokenId).toMatch(/^[0-9a-f-]{36}$/)
    expect((await decide(path, { decision: 'approve', input: { usd: 100 } })).json).toEqual(json)
    const [step] = (await own.call('GET', `/v1/agent_executions/${executionId}/steps`)).json
    expect(step).toMatchObject({
      wait: { kind: 'approval', data: { usd: 200 } },
      result: { decision: 'approve', by: 'test', note: 'Fine.', input: { usd: 100 } },
    })
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
    ['with another decision', { decision: 'timeout' }, '/decision'],
    ['with a note that is too long', { decision: 'reject', note: 'x'.repeat(2_001) }, '/note'],
    ['with a note of 5 MB', { decision: 'reject', note: 'x'.repeat(5_000_000) }, '/note'],
    ['with a note that is no text', { decision: 'reject', note: '\ud800' }, '/note'],
    ['with an input that is no object', { decision: 'approve', input: 5 }, '/input'],
    ['with an input beside a rejection', { decision: 'reject', input: {} }, '/input'],
    ['with another field', { decision: 'approve', by: 'Bob' }, '/by'],
  ])('answers 422 to a body %s', async (_, body, path) => {
    const { json, status } = await decide((await waiting()).path, body)
    expect([status, json.code, json.errors[0].path]).toEqual([422, 'InputSchemaMismatch', path])
  })

  it('is for the scope approve, which no other scope includes', async () => {
    const { path } = await waiting()
    const others = await own.withLimits({ scopes: ['run', 'read', 'manage', 'review'] })
    expect(await decide(path, { decision: 'approve' }, others)).toMatchObject({
      status: 403,
      json: { code: 'Forbidden', detail: expect.stringContaining('scope approve') },
    })
  })

  it('answers 404 to those who may not see the run, as for one that does not exist', async () => {
    const { path, executionId, id } = await waiting()
    const other = await newOrganization()
    const clients = [
      other.call,
      await own.withLimits({ tenantId: 'globex' }),
      await own.withLimits({ agents: ['echo'], scopes: ['approve'] }),
    ]
    const missing = path.replace(executionId, '01a2003a-d1f2-7169-a695-5ea4428d9251')
    for (const client of clients) {
      const refused = await decide(path, { decision: 'approve' }, client)
      expect(refused.json.code).toBe('ExecutionNotFound')
      expect(comparable(refused)).toEqual(comparable(await decide(missing, { decision: 'approve' }, client)))
    }
    const guessed = await decide(path.replace(id, 'f'.repeat(32)), { decision: 'approve' })
    expect([guessed.status, guessed.json.code]).toEqual([404, 'ApprovalNotFound'])
    expect((await decide(path, { decision: 'reject' })).status).toBe(200)
  })
})

describe('GET /v1/approvals', () => {
  it('lists what waits, with its data', async () => {
    const { executionId, id } = await waiting()
    const { json } = await approver('GET', '/v1/approvals?limit=1')
    expect(json).toEqual([
      {
        ...{ id, executionId, name: 'refund', title: 'Refund?', input: { usd: 200 }, step: 1 },
        ...{ inputSchema: null, mayDecide: true },
        documentId: expect.any(String),
        versionId: expect.any(String),
        tenantId: 'acme',
        since: expect.any(String),
        until: expect.any(String),
      },
    ])
  })

  it('says who may not decide, and leaves out inputs on request', async () => {
    await waiting('summarized')
    const path = '/v1/approvals?tenantId=summarized'
    const reader = await own.withLimits({ scopes: ['read'] })
    expect((await reader('GET', path)).json).toMatchObject([{ mayDecide: false, input: { usd: 200 } }])
    const [summary] = (await approver('GET', `${path}&fields=summary`)).json
    expect(summary).toMatchObject({ mayDecide: true, title: 'Refund?' })
    expect(Object.keys(summary)).not.toEqual(expect.arrayContaining(['input']))
    expect(Object.keys(summary)).not.toEqual(expect.arrayContaining(['inputSchema']))
  })

  it('filters by agent and tenant, and shows limited tokens their own', async () => {
    const { executionId } = await waiting('filtered')
    const listed = async (query: string, client = approver) => {
      const { json } = await client('GET', `/v1/approvals?limit=100&${query}`)
      return json.map?.(({ executionId: each }: { executionId: string }) => each) ?? json.code
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

  it('continues at the cursor', async () => {
    for (let i = 0; i < 3; i++) await waiting('paged')
    const first = await approver('GET', '/v1/approvals?tenantId=paged&limit=2')
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? []
    const second = await approver('GET', next)
    const ids = [...first.json, ...second.json].map(({ executionId }) => executionId)
    expect([first.json.length, new Set(ids).size]).toEqual([2, 3])
  })
})
