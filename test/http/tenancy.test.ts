import { beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenStore } from '../../lib/dynamodb/token-store.ts'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'
import { type ApiResponse, createClient } from '../support/client.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/organization.ts'

let ours: TestOrganization
let theirs: TestOrganization
let agentId: string
let executionId: string

beforeAll(async () => {
  ours = await newOrganization()
  theirs = await newOrganization()
  agentId = (await theirs.publish('echo')).agentId
  const { headers } = await theirs.call('POST', '/v1/agents/echo/executions', { body: { text: 'secret' } })
  executionId = headers.get('x-execution-id') ?? ''
})

/** Everything of a response but what is its own: the request id, the date. */
const bytesOf = ({ status, text, json, headers }: ApiResponse) => [
  status,
  text.replaceAll(json.instance, ''),
  [...headers].filter(([name]) => name !== 'date' && name !== 'x-amzn-requestid'),
]

describe("another organization's things", () => {
  const cases: [string, string, (id: string) => string, () => string][] = [
    ['agent', 'GET', (id) => `/v1/agents/${id}`, () => agentId],
    ['document', 'GET', (id) => `/v1/documents/${id}/`, () => agentId],
    ['versions', 'GET', (id) => `/v1/agents/${id}/versions`, () => agentId],
    ['executions of an agent', 'GET', (id) => `/v1/agents/${id}/executions`, () => agentId],
    ['agent to run', 'POST', (id) => `/v1/agents/${id}/executions`, () => agentId],
    ['execution', 'GET', (id) => `/v1/agent_executions/${id}`, () => executionId],
    ['steps', 'GET', (id) => `/v1/agent_executions/${id}/steps`, () => executionId],
    ['execution to delete', 'DELETE', (id) => `/v1/agent_executions/${id}`, () => executionId],
    ['execution to rate', 'PUT', (id) => `/v1/agent_executions/${id}/feedback`, () => executionId],
    ['execution to cancel', 'POST', (id) => `/v1/document_executions/${id}/cancel`, () => executionId],
  ]

  it.each(cases)(
    'answer (%s) 404 with the same bytes as what does not exist',
    async (_, method, path, id) => {
      const bodies: Record<string, object> = { POST: { text: 'x' }, PUT: { rating: 1 } }
      const options = { body: bodies[method] }
      const foreign = await ours.call(method, path(id()), options)
      const missing = await ours.call(method, path(system.newId()), options)
      expect(foreign.status).toBe(404)
      expect(bytesOf(foreign)).toEqual(bytesOf(missing))
    },
  )

  it('are in no list', async () => {
    expect((await ours.call('GET', '/v1/agents')).json).toEqual([])
    expect((await ours.call('GET', '/v1/agent_executions')).json).toEqual([])
  })

  it('are still there afterwards', async () => {
    expect((await theirs.call('GET', `/v1/agent_executions/${executionId}`)).json.status).toBe('SUCCESS')
  })

  it('do not run by version id', async () => {
    await ours.publish('echo')
    const { json } = await theirs.call('GET', '/v1/agents/echo')
    const answer = await ours.call('POST', `/v1/agents/echo/executions?version=${json.currentVersionId}`, {
      body: { text: 'x' },
    })
    expect(answer.json.code).toBe('VersionNotFound')
  })
})

describe('a token', () => {
  async function tokenOf(organizationId: string, lifetimeMs: number | null) {
    const created = newToken({ system, organizationId, name: 't', createdBy: organizationId, lifetimeMs })
    await tokenStore(sharedTable()).create({ token: created.token })
    return { id: created.token.id, call: createClient(inject('service'), created.text) }
  }

  it('works until it is revoked', async () => {
    const { id, call } = await tokenOf(ours.id, null)
    expect((await call('GET', '/v1/agents')).status).toBe(200)
    const revokedAt = new Date().toISOString()
    expect(await tokenStore(sharedTable()).revoke({ organizationId: theirs.id, id, revokedAt })).toBe(false)
    expect((await call('GET', '/v1/agents')).status).toBe(200)
    expect(await tokenStore(sharedTable()).revoke({ organizationId: ours.id, id, revokedAt })).toBe(true)
    // The gateway keeps the authorizer's answer for a quarter of a second.
    await expect.poll(async () => (await call('GET', '/v1/agents')).status, { timeout: 5_000 }).toBe(401)
  })

  it('does not work once it has expired', async () => {
    expect((await (await tokenOf(ours.id, 60_000)).call('GET', '/v1/agents')).status).toBe(200)
    expect((await (await tokenOf(ours.id, -1)).call('GET', '/v1/agents')).status).toBe(401)
  })
})
