import type { APIGatewayProxyEvent } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { encoding } from '../../lib/http/parameters.ts'

/** What API Gateway passes for `%E9`: it decodes the parameters before it calls the function. */
const DECODED = 'Caf\ufffd'

function check(parts: Partial<APIGatewayProxyEvent>): unknown {
  const event = {
    path: '/v1/agents/a',
    pathParameters: null,
    multiValueQueryStringParameters: null,
    ...parts,
  }
  try {
    return encoding().before?.({ event: event as ServiceEvent } as never)
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('encoding', () => {
  it.each([
    ['a path', { path: `/v1/agents/${DECODED}` }, 'BadRequest'],
    ['a path parameter', { pathParameters: { agentId: DECODED } }, 'BadRequest'],
    [
      'a query parameter',
      { multiValueQueryStringParameters: { tenantId: ['a', DECODED] } },
      'InvalidQueryParameter',
    ],
    [
      'the name of a query parameter',
      { multiValueQueryStringParameters: { [DECODED]: ['a'] } },
      'InvalidQueryParameter',
    ],
    [
      'Unicode',
      { pathParameters: { agentId: 'Café' }, multiValueQueryStringParameters: { tenantId: ['Café 😀'] } },
      undefined,
    ],
  ])('checks %s', (_, parts, code) => expect(check(parts)).toBe(code))
})
