import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { getOperation, type OperationName, operations } from '../../lib/api/routes.ts'
import { system } from '../../lib/system.ts'
import { localHandlers } from '../support/service/local-handlers.ts'

const handlers = localHandlers()

/** An event of a route whose authorizer is missing or returns an unexpected context. */
function createEvent(name: OperationName, authorizer: unknown): APIGatewayProxyEvent {
  const { method, path } = getOperation(name)
  return {
    resource: path,
    path,
    httpMethod: method,
    headers: { 'Content-Type': 'application/json' },
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { agentId: 'redact-pii', executionId: system.newId() },
    stageVariables: null,
    requestContext: { requestId: 'r', path, authorizer } as unknown as APIGatewayProxyEvent['requestContext'],
    body: '{}',
    isBase64Encoded: false,
  }
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
    const result = (await handlers[name](createEvent(name, authorizer), {})) as APIGatewayProxyResult
    expect(result.statusCode).toBe(401)
    expect(JSON.parse(result.body)).toMatchObject({ code: 'Unauthorized' })
  })

  it('accepts an event with an organization', async () => {
    const event = createEvent(name, { organizationId: system.newId() })
    const result = (await handlers[name](event, {})) as APIGatewayProxyResult
    expect([200, 400, 404, 422]).toContain(result.statusCode)
  })
})
