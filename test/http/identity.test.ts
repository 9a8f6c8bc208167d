import type { APIGatewayProxyResult } from 'aws-lambda'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { getOperation, type OperationName, operations } from '../../lib/contract/routes.ts'
import type { RefusedAccess } from '../../lib/core/access.ts'
import { toAuthorizerContext } from '../../lib/http/authorizer-context.ts'
import { system } from '../../lib/system.ts'
import { capturedEvent } from '../fixtures/captured-events.ts'
import { localHandlers } from '../support/service/local-handlers.ts'

const handlers = localHandlers()

/** Calls a route whose authorizer is missing or returns an unexpected context. */
async function invoke(name: OperationName, authorizer: unknown) {
  const { method, path } = getOperation(name)
  const pathParameters = { agentId: 'redact-pii', executionId: system.newId() }
  const event = capturedEvent({ method, resource: path, path, pathParameters, body: '{}' })
  const requestContext = { ...event.requestContext, authorizer: authorizer as object }
  return (await handlers[name]({ ...event, requestContext }, {})) as APIGatewayProxyResult
}

const IDENTITIES: [string, unknown][] = [
  ['no authorizer', undefined],
  ['an empty context', {}],
  ['an empty organization', { organizationId: '' }],
  ['an organization that is not a UUID', { organizationId: '*' }],
  ['a list of organizations', { organizationId: ['0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48'] }],
]

const protectedOperations = (Object.keys(operations) as OperationName[]).filter(
  (name) => !getOperation(name).public,
)

describe.each(protectedOperations)('%s', (name) => {
  it.each(IDENTITIES)('rejects an event with %s', async (_, authorizer) => {
    const { statusCode, body } = await invoke(name, authorizer)
    expect([statusCode, JSON.parse(body).code]).toEqual([401, 'Unauthorized'])
  })

  it('accepts an event with an organization', async () => {
    const { statusCode } = await invoke(name, { organizationId: system.newId() })
    expect([200, 400, 404, 422]).toContain(statusCode)
  })
})

describe('someone of the identity provider whom it gives access to nothing', () => {
  const REFUSED = { tokenId: system.newId(), forbidden: 'The token has no claim "scope".' }
  const inAMinute = () => Math.floor(Date.now() / 1_000) + 60

  afterEach(() => void vi.unstubAllEnvs())

  async function send(name: OperationName, refused: Partial<RefusedAccess>, scopes: unknown) {
    vi.stubEnv('OIDC_ISSUER', 'https://login.example')
    vi.stubEnv('OIDC_MAPPING', JSON.stringify({ organization: system.newId(), scopes }))
    const context = toAuthorizerContext({ ...REFUSED, expiresAt: inAMinute(), ...refused })
    const { statusCode, headers, body } = await invoke(name, context)
    const { code, detail } = JSON.parse(body)
    return { status: statusCode, code, detail, challenge: headers?.['WWW-Authenticate'] }
  }

  const FORBIDDEN = { status: 403, code: 'Forbidden', detail: REFUSED.forbidden }
  const WORDS = { claim: 'scope' }
  const challengeFor = (scope: string) =>
    expect.stringContaining(
      `Bearer error="insufficient_scope", error_description="The token lacks a scope.", scope="${scope}"`,
    )

  it.each<[OperationName, string]>([
    ['serve-mcp', 'run read'],
    ['list-agents', 'read'],
    ['delete-version', 'manage'],
  ])('is asked for the scopes of the operation if it lacks all: %s', async (name, scope) => {
    const challenge = challengeFor(scope)
    expect(await send(name, { lacksScope: true }, WORDS)).toEqual({ ...FORBIDDEN, challenge })
  })

  it.each<[string, Partial<RefusedAccess>, unknown]>([
    ['it lacks something else', {}, WORDS],
    ['its scopes come from roles', { lacksScope: true }, { claim: 'roles' }],
    ['the provider has no scope for it', { lacksScope: true }, { claim: 'scope', values: { r: ['manage'] } }],
  ])('is asked for nothing if that would not help: %s', async (_, refused, scopes) => {
    expect(await send('list-agents', refused, scopes)).toEqual({ ...FORBIDDEN, challenge: undefined })
  })

  it.each([{}, { lacksScope: true as const }])(
    'gets 401 when its token has expired since: %j',
    async (refused) => {
      const expiresAt = Math.floor(Date.now() / 1_000)
      const challenge = expect.stringContaining('error="invalid_token"')
      const answer = await send('serve-mcp', { ...refused, expiresAt }, WORDS)
      expect(answer).toMatchObject({ status: 401, code: 'Unauthorized', challenge })
    },
  )
})
