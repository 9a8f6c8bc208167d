import { MethodNotAllowed } from '../../lib/core/request-errors.ts'
import { ALLOWED_HEADERS, type CorsOrigins, MAX_AGE_SECONDS } from '../../lib/http/cors.ts'
import { toProblemResult } from '../../lib/http/problem-details.ts'

/** An OpenAPI operation that API Gateway serves, without its parameters and security. */
export type MockOperation = {
  responses: Record<string, object>
  'x-amazon-apigateway-integration': Record<string, unknown>
}

/** API Gateway selects the request template by the request's content type; without one it responds with 415. */
const CONTENT_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
]

/** Responds with 405 to the methods that a path does not support, without invoking a function. */
export function methodNotAllowed(methods: string[]): MockOperation {
  const { headers = {}, body } = toProblemResult(new MethodNotAllowed(methods), '$context.requestId')
  return mock({ statusCode: 405, headers, template: body })
}

/** Responds to the preflight requests of browsers, which have no token. */
export function preflight(methods: string[], origins: CorsOrigins): MockOperation {
  const [origin = '*', ...others] = [origins].flat()
  const headers = {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': methods.join(','),
    'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(','),
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    ...(origins !== '*' && { Vary: 'Origin' }),
  }
  const template = others.length > 0 ? reflectOrigin(others) : null
  return mock({ statusCode: 204, headers, template })
}

/** A template that replaces the origin in the response by that of the request, if it is one of these. */
const reflectOrigin = (origins: string[]): string =>
  [
    '#set($origin = $input.params().header.get("Origin"))',
    '#if($origin == "")#set($origin = $input.params().header.get("origin"))#end',
    `#if(${origins.map((origin) => `$origin == "${origin}"`).join(' || ')})`,
    '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
  ].join('\n')

type MockResponse = {
  statusCode: number
  headers: Record<string, string | number | boolean>
  /** Of the body, in the Velocity Template Language. */
  template: string | null
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-mock-integration.html */
function mock({ statusCode, headers, template }: MockResponse): MockOperation {
  const request = JSON.stringify({ statusCode })
  return {
    responses: {
      [statusCode]: {
        description: 'The response of API Gateway',
        headers: Object.fromEntries(
          Object.keys(headers).map((name) => [name, { schema: { type: 'string' } }]),
        ),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      passthroughBehavior: 'never',
      requestTemplates: Object.fromEntries(CONTENT_TYPES.map((type) => [type, request])),
      responses: {
        default: {
          statusCode: String(statusCode),
          responseParameters: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, `'${value}'`]),
          ),
          ...(template !== null && { responseTemplates: { 'application/json': template } }),
        },
      },
    },
  }
}
