import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newToken } from '../../lib/access/tokens.ts'
import { tokenStore } from '../../lib/dynamodb/access-stores.ts'
import { system } from '../../lib/system.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, createClient, getExecutionId } from '../support/service/client.ts'

let ours: TestOrganization
let theirs: TestOrganization
let agentId: string
let executionId: string

beforeAll(async () => {
  ours = await newOrganization()
  theirs = await newOrganization()
  agentId = (await theirs.publish('echo')).agentId
  executionId = getExecutionId(await theirs.run('echo', { text: 'secret' }))
})

/** The response without the request ID and the date. */
const comparable = ({ status, text, json, headers }: ApiResponse) => [
  status,
  text.replaceAll(json.instance, ''),
  [...headers].filter(([name]) => name !== 'date' && name !== 'x-amzn-requestid'),
]

describe("another organization's resources", () => {
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

  it.each(cases)('get the same 404 response as missing resources: %s', async (_, method, path, id) => {
    const bodies: Record<string, object> = { POST: { text: 'x' }, PUT: { rating: 1 } }
    const options = { body: bodies[method] }
    const foreign = await ours.call(method, path(id()), options)
    const missing = await ours.call(method, path(system.newId()), options)
    expect(foreign.status).toBe(404)
    expect(comparable(foreign)).toEqual(comparable(missing))
  })

  it('are not listed', async () => {
    expect((await ours.call('GET', '/v1/agents')).json).toEqual([])
    expect((await ours.call('GET', '/v1/agent_executions')).json).toEqual([])
  })

  it('are not changed by the requests', async () => {
    expect((await theirs.getExecution(executionId)).status).toBe('SUCCESS')
  })

  it('cannot be run by version ID', async () => {
    await ours.publish('echo')
    const { json } = await theirs.call('GET', '/v1/agents/echo')
    const response = await ours.run('echo', { text: 'x' }, `version=${json.currentVersionId}`)
    expect(response.json.code).toBe('VersionNotFound')
  })
})

describe('a token', () => {
  async function createToken(organizationId: string, lifetimeMs: number | null) {
    const created = newToken({ system, organizationId, name: 't', createdBy: organizationId, lifetimeMs })
    await tokenStore(sharedTable()).create({ token: created.token })
    return { id: created.token.id, call: createClient(inject('service'), created.text) }
  }

  it('is valid until it is revoked', async () => {
    const { id, call } = await createToken(ours.id, null)
    expect((await call('GET', '/v1/agents')).status).toBe(200)
    expect((await theirs.call('DELETE', `/v1/tokens/${id}`)).status).toBe(404)
    expect((await call('GET', '/v1/agents')).status).toBe(200)
    expect((await ours.call('DELETE', `/v1/tokens/${id}`)).status).toBe(200)
    // The gateway caches the authorizer result for a quarter of a second.
    await expect.poll(async () => (await call('GET', '/v1/agents')).status).toBe(401)
  })

  it('is invalid once it has expired', async () => {
    expect((await (await createToken(ours.id, 60_000)).call('GET', '/v1/agents')).status).toBe(200)
    expect((await (await createToken(ours.id, -1)).call('GET', '/v1/agents')).status).toBe(401)
  })
})
