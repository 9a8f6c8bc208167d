import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ClaimMapping, MAX_MAPPING_LENGTH, parseMapping } from '../../lib/access/claim-mapping.ts'
import { mapClaims } from '../../lib/access/claims.ts'
import { MAX_TOKEN_AGENTS, SCOPES } from '../../lib/core/access.ts'
import { Forbidden } from '../../lib/core/request-errors.ts'
import { propertyRuns } from '../support/data/property-runs.ts'

const ACME = '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48'
const GLOBEX = 'b3a1c9a0-6a0e-4c53-8b62-0a5de2f3c911'

const mappingOf = (mapping: object): ClaimMapping =>
  parseMapping(JSON.stringify({ organization: ACME, scopes: ['run'], ...mapping }))
const map = (mapping: object, claims: object) =>
  mapClaims(mappingOf(mapping), JSON.parse(JSON.stringify(claims)))
const refused = (mapping: object, claims: object): string => {
  try {
    return `gave ${JSON.stringify(map(mapping, claims))}`
  } catch (error) {
    expect(error).toBeInstanceOf(Forbidden)
    return (error as Error).message
  }
}

describe('mapClaims', () => {
  it('gives what is the same for all tokens without any claim', () => {
    expect(map({ agents: ['triage'] }, {})).toEqual({
      organizationId: ACME,
      tenantId: null,
      scopes: ['run'],
      agents: ['triage'],
    })
    const upper = map({ organization: ACME.toUpperCase() }, {})
    expect(upper).toMatchObject({ organizationId: ACME, agents: null })
  })

  const organization = {
    organization: { claim: 'groups', values: { acme: ACME, staff: ACME, globex: GLOBEX } },
  }

  it('finds the organization by a value of a claim, also by several values that mean the same one', () => {
    expect(map(organization, { groups: 'globex' })).toMatchObject({ organizationId: GLOBEX })
    expect(map(organization, { groups: ['x', 'acme', 'staff'] })).toMatchObject({ organizationId: ACME })
  })

  it.each([
    [{}, 'The token has no claim "groups", which gives its organization.'],
    [
      { groups: 'hidden' },
      /^The claim "groups" gives the token no organization: none of its values is mapped/,
    ],
    [
      { groups: ['acme', 'globex'] },
      'The claim "groups" gives the token several organizations: it can have only one.',
    ],
    // A text with a space is one value, except in `scope`.
    [{ groups: 'acme globex' }, /no organization/],
    [
      { groups: 7 },
      /^The claim "groups", which gives its organization, is neither a text nor a list of texts\.$/,
    ],
    [{ groups: ['acme', 7] }, /neither a text/],
    [{ groups: 'constructor' }, /no organization/],
    [{ groups: '__proto__' }, /no organization/],
  ])('refuses %j without showing a value', (claims, message) => {
    expect(refused(organization, claims)).toMatch(message)
    expect(refused(organization, claims)).not.toMatch(/hidden|acme|globex/i)
  })

  it('follows the path of a claim through own members only', () => {
    const nested = { tenant: { claim: ['https://a.example/claims', 'customer.id'] } }
    expect(map(nested, { 'https://a.example/claims': { 'customer.id': 'acme' } }).tenantId).toBe('acme')
    for (const claim of [['__proto__', 'x'], 'toString', ['constructor', 'name']])
      expect(refused({ tenant: { claim } }, {})).toMatch(/^The token has no claim /)
    const own = mapClaims(mappingOf({ tenant: { claim: '__proto__' } }), JSON.parse('{"__proto__":"acme"}'))
    expect(own).toMatchObject({ tenantId: 'acme' })
  })

  it('gives a tenant, and all of them only if its claim is optional and absent', () => {
    const tenant = { claim: 'customer' }
    expect(map({ tenant }, { customer: 'acme' }).tenantId).toBe('acme')
    expect(map({ tenant: { ...tenant, optional: true } }, {}).tenantId).toBe(null)
    expect(refused({ tenant: { ...tenant, optional: false } }, {})).toMatch(/no claim "customer"/)
    for (const customer of [null, '', [], 7, {}, 'a\nb', 'a\ud800', 'x'.repeat(129), ['acme', 'globex']])
      expect(refused({ tenant: { ...tenant, optional: true } }, { customer })).toMatch(
        /^The claim "customer"/,
      )
    const mapped = { tenant: { ...tenant, optional: true, values: { 42: 'acme' } } }
    expect(map(mapped, { customer: '42' }).tenantId).toBe('acme')
    expect(refused(mapped, { customer: '43' })).toMatch(/gives the token no tenant/)
  })

  it('gives all tenants only if a member of an object is missing, wherever on the path of the claim', () => {
    const tenant = { claim: ['x', 'y', 't'], optional: true }
    for (const claims of [{}, { x: {} }, { x: { y: {} } }])
      expect(map({ tenant }, claims).tenantId).toBe(null)
    for (const wrong of ['hidden', '', 7, null, true, [], [{ t: 'hidden' }]]) {
      expect(refused({ tenant }, { x: wrong })).toBe(
        'The claim "x" is not an object, so it cannot contain "x.y.t".',
      )
      expect(refused({ tenant }, { x: { y: wrong } })).toMatch(/^The claim "x\.y" is not an object/)
    }
    for (const member of ['length', '0'])
      for (const x of ['abc', ['acme']])
        expect(refused({ tenant: { ...tenant, claim: ['x', member] } }, { x })).toMatch(/is not an object/)
  })

  it.each(['scope', 'scp', ['access', 'scope']])('reads the words of %j', (claim) => {
    const scope = 'openid run  read admin run'
    const claims = Array.isArray(claim) ? { access: { scope } } : { [claim]: scope }
    expect(map({ scopes: { claim } }, claims).scopes).toEqual(['run', 'read'])
  })

  it('gives the scopes of all values, and nothing to a token without one', () => {
    const scopes = { claim: 'roles', values: { user: ['run', 'read'], lead: ['read', 'approve'] } }
    expect(map({ scopes }, { roles: ['user', 'lead', 'x'] }).scopes).toEqual(['run', 'read', 'approve'])
    expect(map({ scopes: { claim: 'roles' } }, { roles: ['manage', 'x'] }).scopes).toEqual(['manage'])
    for (const roles of [[], 'x', ['run'], 'user lead'])
      expect(refused({ scopes }, { roles })).toMatch(/gives the token no scope/)
    expect(refused({ scopes }, {})).toMatch(/no claim "roles", which gives its scope/)
    // A list of permissions is no list of words.
    expect(refused({ scopes: { claim: 'roles' } }, { roles: 'run read' })).toMatch(/no scope/)
  })

  it('gives agents by slug or ID, and nothing to a token without one', () => {
    const agents = { claim: 'teams', values: { support: ['triage', GLOBEX], all: ['triage', 'redact-pii'] } }
    expect(map({ agents }, { teams: ['support', 'all'] }).agents).toEqual(['triage', GLOBEX, 'redact-pii'])
    expect(map({ agents: { claim: 'agents' } }, { agents: ['triage', 'No Slug', 'a,b'] }).agents).toEqual([
      'triage',
    ])
    expect(refused({ agents }, { teams: [] })).toMatch(/gives the token no agent/)
    expect(refused({ agents }, {})).toMatch(/no claim "teams", which gives its agent/)
    const many = Array.from({ length: MAX_TOKEN_AGENTS + 1 }, (_, index) => `agent-${index}`)
    expect(refused({ agents: { claim: 'agents' } }, { agents: many })).toMatch(/more than 50 agents/)
  })

  it('never gives more than the mapping has, whatever the claims are', () => {
    const mapping = mappingOf({
      ...organization,
      tenant: { claim: 'customer', values: { a: 'acme' } },
      scopes: { claim: 'scope', values: { user: ['run'] } },
      agents: { claim: 'teams', values: { support: ['triage'] } },
    })
    const word = fc.constantFrom('acme', 'globex', 'a', 'user', 'support', 'run', '__proto__', 'constructor')
    const value = fc.oneof(word, fc.array(word), fc.jsonValue())
    const claims = fc.dictionary(fc.constantFrom('groups', 'customer', 'scope', 'teams', '__proto__'), value)
    fc.assert(
      fc.property(claims, (given) => {
        try {
          const { organizationId, ...rest } = mapClaims(mapping, given)
          expect([ACME, GLOBEX]).toContain(organizationId)
          expect(rest).toEqual({ tenantId: 'acme', scopes: ['run'], agents: ['triage'] })
        } catch (error) {
          expect(error).toBeInstanceOf(Forbidden)
        }
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})

describe('the examples of docs/identity.md', () => {
  const page = readFileSync(new URL('../../docs/identity.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('### Examples')
  const [examples = ''] = section.split('\n## ')
  const blocks = [...examples.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => json)

  it.each([
    ['Auth0', { tenantId: null, scopes: ['run', 'read'] }],
    ['Okta', { tenantId: null, scopes: ['run', 'read', 'approve', 'review'] }],
    ['Microsoft Entra ID', { tenantId: null, scopes: ['run', 'read', 'manage'] }],
    ['Keycloak', { tenantId: 'globex', scopes: ['run', 'read'] }],
  ])('of %s gives what it says', (name, expected) => {
    const order = [...section.matchAll(/^\*\*(.+?)\*\*:/gm)].map(([, each]) => each)
    const index = order.indexOf(name)
    const [claims = '', mapping = ''] = blocks.slice(index * 2)
    const access = mapClaims(parseMapping(mapping), JSON.parse(claims))
    expect(access).toEqual({ organizationId: ACME, agents: null, ...expected })
  })
})

describe('parseMapping', () => {
  const GIVEN = { organization: ACME, scopes: ['run'] }
  it.each([
    ['', /^must be a JSON object such as/],
    ['[]', /^must be a JSON object such as/],
    [' '.repeat(MAX_MAPPING_LENGTH + 1), /at most 2,500 characters\.$/],
    [{}, 'organization must be a UUID, or an object such as {"claim": "groups"'],
    [{ organization: 'acme', scopes: ['run'] }, /^organization must be a UUID/],
    [
      { organization: { claim: 'org' }, scopes: ['run'] },
      'organization.values must be an object with a member',
    ],
    [{ organization: { claim: 'org', values: {} }, scopes: ['run'] }, /^organization\.values must be/],
    [{ organization: ACME }, `scopes must be a list of ${SCOPES.join(', ')}, or an object`],
    [{ organization: ACME, scopes: ['admin'] }, /^scopes must be a list of run/],
    [
      { organization: ACME, scopes: { claim: 'a', values: { b: [] } } },
      /^scopes\.values\["b"\] must be a list/,
    ],
    [{ organization: ACME, scopes: { claim: 'a', value: {} } }, 'scopes.value is unknown.'],
    [
      { organization: ACME, scopes: { claim: [] } },
      'scopes.claim must be the name of a claim, or a list of 1 to 5',
    ],
    [{ ...GIVEN, tenant: 'acme' }, 'tenant must be an object such as'],
    [{ ...GIVEN, tenant: { claim: 'a', optional: 'yes' } }, /^tenant\.optional must be true/],
    [{ ...GIVEN, tenant: { claim: 'a', values: { b: '' } } }, /^tenant\.values\["b"\] must/],
    [{ ...GIVEN, agents: [] }, 'agents must be a list of 1 to 50 slugs or IDs of agents'],
    [{ ...GIVEN, agents: ['Not A Slug'] }, /^agents must be a list of 1 to 50/],
    [{ ...GIVEN, agents: { claim: 'a', values: { b: 'c' } } }, /^agents\.values\["b"\]/],
    [{ ...GIVEN, rate: 1 }, 'rate is unknown.'],
    [
      `{"organization": "${ACME}", "scopes": ["manage"], "scopes": ["read"]}`,
      'scopes appears more than once.',
    ],
    [
      `{"organization": "${ACME}", "scopes": {"claim": "a", "values": {"x": ["manage"], "\\u0078": ["read"]}}}`,
      'scopes.values["x"] appears more than once.',
    ],
  ])('rejects %j', (given, message) => {
    const text = typeof given === 'string' ? given : JSON.stringify(given)
    expect(() => parseMapping(text)).toThrow(message)
  })
})
