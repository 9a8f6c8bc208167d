import { describe, expect, inject, it } from 'vitest'
import { newToken } from '../../lib/access/tokens.ts'
import { tokenStore } from '../../lib/dynamodb/access-stores.ts'
import { system } from '../../lib/system.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { type ApiClient, createClient } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('echo', 'three-steps')
await organizationWith('failing')

const NOT_FOUND = 'Your organization has no agent with this ID or slug. GET /v1/agents lists its agents.'
const hint = (slug: string) => NOT_FOUND.replace('.', `; did you mean ${slug}?`)

const routesOf = (slug: string): ['GET' | 'POST', string][] => [
  ['POST', `/v1/agents/${slug}/executions`],
  ['GET', `/v1/agents/${slug}`],
  ['GET', `/v1/agents/${slug}/versions`],
  ['GET', `/v1/agents/${slug}/executions`],
  ['GET', `/v1/agents/${slug}/versions/01a2003a-d1f2-7169-a695-5ea4428d9251`],
]

async function details(call: ApiClient, slug: string): Promise<string[]> {
  const responses = await Promise.all(
    routesOf(slug).map(([method, path]) => call(method, path, method === 'POST' ? { body: {} } : {})),
  )
  for (const { status, json } of responses) expect([status, json.code]).toEqual([404, 'AgentNotFound'])
  return [...new Set(responses.map(({ json }) => json.detail as string))]
}

describe('a slug that does not exist', () => {
  it('is answered with a similar one', async () => {
    expect(await details(org.call, 'three-step')).toEqual([hint('three-steps')])
    expect(await details(org.call, 'THREE_STEPS')).toEqual([hint('three-steps')])
    expect(await details(org.call, 'unrelated')).toEqual([NOT_FOUND])
  })

  it('is answered with agents of the token only', async () => {
    const echoOnly = await org.withLimits({ agents: ['echo'] })
    expect(await details(echoOnly, 'three-step')).toEqual([NOT_FOUND])
    expect(await details(echoOnly, 'ecno')).toEqual([hint('echo')])
    // An agent that exists, and that the token may not use, looks like one that does not.
    expect(await details(echoOnly, 'three-steps')).toEqual([NOT_FOUND])
  })
})

describe('a token that is rejected', () => {
  const SEND = 'Send a valid API token in the header "Authorization: Bearer <API token>". '
  const unknown = `aes_${'a'.repeat(43)}`
  const INVALID = 'The token does not exist, has expired or was revoked.'
  const LOOKS = 'What the header contains does not look like a token: "aes_" and 43 letters and digits.'

  it.each([
    [undefined, 'The request has no header Authorization.'],
    [unknown, 'The header does not begin with "Bearer".'],
    [`Basic ${unknown}`, 'The header does not begin with "Bearer".'],
    ['Bearer', 'The header has no token after "Bearer".'],
    [`Bearer ${unknown}x`, LOOKS],
    [`Bearer "${unknown}"`, LOOKS],
    [`Bearer ${unknown}`, INVALID],
  ])('(%s) is explained', async (authorization, mistake) => {
    const headers: Record<string, string> =
      authorization === undefined ? {} : { Authorization: authorization }
    const { status, json } = await createClient(inject('service'), null)('GET', '/v1/agents', { headers })
    expect([status, json.code, json.detail]).toEqual([401, 'Unauthorized', SEND + mistake])
  })

  it('gets the same sentence whether it never existed or has expired', async () => {
    const given = { system, name: 'test', createdBy: org.id, lifetimeMs: -1 }
    const { token, text } = newToken({ ...given, organizationId: org.id })
    await tokenStore(sharedTable()).create({ token })
    const { json } = await createClient(inject('service'), text)('GET', '/v1/agents')
    expect(json.detail).toBe(SEND + INVALID)
  })
})
