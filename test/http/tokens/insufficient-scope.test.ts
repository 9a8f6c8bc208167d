import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import type { ApiClient } from '../../support/service/client.ts'

let org: TestOrganization
let reader: ApiClient
let approver: ApiClient

beforeAll(async () => {
  org = await newOrganization()
  reader = await org.withLimits({ scopes: ['read'] })
  approver = await org.withLimits({ scopes: ['approve'] })
})

const challengeFor = (scope: string) =>
  `Bearer error="insufficient_scope", error_description="The token lacks a scope.", scope="${scope}"`

describe('a token without the scope of a route', () => {
  it.each([
    ['POST', '/v1/agents/echo/executions', 'run'],
    ['POST', '/v1/agents', 'manage'],
    ['POST', `/v1/agent_executions/${crypto.randomUUID()}/approvals/x`, 'approve'],
    // One of several is enough: the first one grants least.
    ['PUT', `/v1/agent_executions/${crypto.randomUUID()}/feedback`, 'run'],
  ])('gets a challenge that names it: %s %s', async (method, path, scope) => {
    const { status, headers, json } = await reader(method, path, { body: {} })
    expect([status, json.code, headers.get('www-authenticate')]).toEqual([
      403,
      'Forbidden',
      challengeFor(scope),
    ])
  })

  it('gets one for a draft, and for options that need more', async () => {
    const { agentId, id } = await org.publish('echo', { draft: true })
    const runner = await org.withLimits({ scopes: ['run'] })
    const draft = await runner('POST', `/v1/agents/${agentId}/executions?version=${id}`, {
      body: { text: '' },
    })
    expect([draft.status, draft.headers.get('www-authenticate')]).toEqual([403, challengeFor('manage')])
    const path = `/v1/agent_executions/${crypto.randomUUID()}/rerun`
    const rerun = await runner('POST', path)
    expect([rerun.status, rerun.headers.get('www-authenticate')]).toEqual([403, challengeFor('read')])
  })

  it('gets none if no scope would help', async () => {
    const bound = await org.withLimits({ tenantId: 'acme' })
    const { status, headers } = await bound('GET', '/v1/webhooks')
    expect([status, headers.get('www-authenticate')]).toEqual([403, null])
  })

  it('gets 200 from a route that needs one of several, if it has one', async () => {
    expect((await approver('GET', '/v1/approvals')).status).toBe(200)
  })
})
