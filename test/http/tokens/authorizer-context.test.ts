import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Access, MAX_EXPIRES_AT, MAX_TOKEN_AGENTS, SCOPES, UNLIMITED } from '../../../lib/core/access.ts'
import { Unauthorized } from '../../../lib/core/request-errors.ts'
import { fromAuthorizerContext, toAuthorizerContext } from '../../../lib/http/authorizer-context.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { newOrganization } from '../../support/engine/organization.ts'

const anAccess = (overrides: Partial<Access> = {}): Access => ({
  ...UNLIMITED,
  organizationId: system.newId(),
  tokenId: system.newId(),
  ...overrides,
})

describe('the context of the authorizer', () => {
  it('carries all limits of a token, as text', () => {
    const access = fc.record({
      organizationId: fc.uuid(),
      tokenId: fc.uuid(),
      tokenName: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
      subject: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
      expiresAt: fc.integer({ min: 1, max: MAX_EXPIRES_AT }),
      scopes: fc.option(fc.subarray([...SCOPES], { minLength: 1 })),
      agents: fc.option(fc.array(fc.stringMatching(/^[a-z0-9]{1,9}(-[a-z0-9]{1,9})?$/), { minLength: 1 })),
      tenantId: fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 })),
      rate: fc.option(fc.integer({ min: 1, max: 1_000 })),
    })
    fc.assert(
      fc.property(access, (given) => {
        const context = toAuthorizerContext(given)
        expect(Object.values(context).filter((value) => !/^[\x20-\x7e]*$/.test(value))).toEqual([])
        expect(fromAuthorizerContext(context)).toEqual(given)
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it('fits the result of an authorizer', () => {
    const agents = Array.from({ length: MAX_TOKEN_AGENTS }, () => 'a'.repeat(64))
    const access = anAccess({
      ...{ scopes: [...SCOPES], agents, tenantId: '日'.repeat(128), rate: 1_000 },
      ...{ tokenName: '日'.repeat(100), subject: '|'.repeat(255), expiresAt: MAX_EXPIRES_AT },
    })
    expect(JSON.stringify(toAuthorizerContext(access)).length).toBeLessThan(7_000)
  })

  it('carries why someone is refused, whatever else it has', () => {
    const { organizationId, tokenId } = anAccess()
    const forbidden = 'The token has no claim "Größe, 日", which gives its tenant.'
    const refused = { tokenId, forbidden, expiresAt: 1_900_000_000 }
    const context = toAuthorizerContext(refused)
    expect(Object.values(context).filter((value) => !/^[\x20-\x7e]*$/.test(value))).toEqual([])
    expect(context.tokenId).toBe(tokenId)
    for (const given of [context, { ...context, organizationId }])
      expect(fromAuthorizerContext(given)).toEqual(refused)
    const lacking = { ...refused, lacksScope: true as const }
    expect(fromAuthorizerContext(toAuthorizerContext(lacking))).toEqual(lacking)
    for (const wrong of [null, 7, []]) {
      const given = { ...context, organizationId, forbidden: wrong }
      expect(() => fromAuthorizerContext(given)).toThrow(Unauthorized)
    }
  })

  it('restricts nothing where a value is absent', () => {
    const { organizationId } = anAccess()
    expect(fromAuthorizerContext({ organizationId })).toEqual({ ...UNLIMITED, organizationId, tokenId: '' })
  })

  it.each([
    ['an empty list of scopes', { scopes: '' }, { scopes: [] }],
    ['an unknown scope', { scopes: 'run,admin' }, { scopes: ['run'] }],
    ['an empty list of agents', { agents: '' }, { agents: [''] }],
  ])('restricts as much as possible with %s', (_, context, expected) => {
    expect(fromAuthorizerContext({ ...toAuthorizerContext(anAccess()), ...context })).toMatchObject(expected)
  })

  it.each([
    ['a rate that is not a number', { rate: 'many' }],
    ['a rate of 0', { rate: '0' }],
    ['an end that is not a number', { expiresAt: 'never' }],
    ['an end in milliseconds', { expiresAt: '1900000000000' }],
    ['a list', { scopes: ['run'] }],
    ['null', { agents: null }],
    ['an organization that is not a UUID', { organizationId: 'a' }],
  ])('is rejected with %s', (_, context) => {
    const changed = { ...toAuthorizerContext(anAccess()), ...context }
    expect(() => fromAuthorizerContext(changed)).toThrow(Unauthorized)
  })
})

const challengeFor = (scope: string) =>
  `Bearer error="insufficient_scope", error_description="The token lacks a scope.", scope="${scope}"`

describe('a token without the scope of a route', async () => {
  const org = await newOrganization()
  const reader = await org.withLimits({ scopes: ['read'] })

  it.each([
    ['POST', '/v1/agents/echo/executions', 'run'],
    ['POST', '/v1/agents', 'manage'],
    ['POST', `/v1/agent_executions/${crypto.randomUUID()}/approvals/x`, 'approve'],
    // One of several is enough: the first one grants least.
    ['PUT', `/v1/agent_executions/${crypto.randomUUID()}/feedback`, 'run'],
  ])('gets a challenge that names it: %s %s', async (method, path, scope) => {
    const { status, headers, json } = await reader(method, path, { body: {} })
    const challenge = headers.get('www-authenticate')
    expect([status, json.code, challenge]).toEqual([403, 'Forbidden', challengeFor(scope)])
  })

  it('gets one for a draft, and for options that need more', async () => {
    const { agentId, id } = await org.publish('echo', { draft: true })
    const runner = await org.withLimits({ scopes: ['run'] })
    const body = { text: '' }
    const draft = await runner('POST', `/v1/agents/${agentId}/executions?version=${id}`, { body })
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
    const approver = await org.withLimits({ scopes: ['approve'] })
    expect((await approver('GET', '/v1/approvals')).status).toBe(200)
  })
})
