import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { type Route, routes } from '../../lib/contract/routes.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { invalidQueryEncoding } from '../../lib/http/parameters.ts'
import type { AuthorizerContext } from './functions.ts'

/**
 * Checks the percent-encoding of a query before it is decoded: decoding replaces invalid UTF-8 by U+FFFD, which makes
 * different values equal.
 * @throws ServiceError `InvalidQueryParameter`
 */
export function checkEncoding(url: string): void {
  const [, ...rest] = url.split('?')
  const parameters = rest.join('?').split('&')
  const invalid = parameters.filter((parameter) => !isEncoded(parameter))
  if (invalid.length > 0) throw invalidQueryEncoding(invalid.map(nameOf))
}

const nameOf = (parameter: string) => new URLSearchParams(parameter).keys().next().value ?? ''

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** A route, with the path and the query of the request that it matches. Parameters are as they are in the URL. */
type RouteMatch = { route: Route; path: string; search: string; parameters: Record<string, string> }

/** A path of the routes. `match` is null if it has no route with the method of the request. */
export type PathMatch = { pattern: string; match: RouteMatch | null }

const paths = Map.groupBy(
  [...new Set(routes.map(({ path }) => path))].map((pattern) => ({ pattern, segments: pattern.split('/') })),
  ({ segments }) => segments.length,
)
const routesByName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))

/** The path of a request. A trailing slash makes no difference, as in API Gateway. */
export function matchPath(method: string, url: string): PathMatch | null {
  const pathAndQuery = url.replace(/^https?:\/\/[^/?]*/i, '')
  const [path = '', ...rest] = pathAndQuery.split('?')
  const given = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  for (const { pattern, segments } of paths.get(given.length) ?? []) {
    const parameters = matchSegments(segments, given)
    if (!parameters) continue
    const route = routesByName.get(`${method === 'HEAD' ? 'GET' : method} ${pattern}`)
    return { pattern, match: route ? { route, path, search: rest.join('?'), parameters } : null }
  }
  return null
}

function matchSegments(pattern: string[], given: string[]): Record<string, string> | null {
  const parameters: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const segment = given[index] ?? ''
    const isParameter = expected.startsWith('{')
    if (isParameter ? segment === '' : segment !== expected) return null
    if (isParameter) parameters[expected.slice(1, -1)] = segment
  }
  return parameters
}

/** Lambda's limit for an event. */
const MAX_BYTES = 6 * 1024 * 1024
/** A body that is larger than this is not read to its end: the connection is closed. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024

/**
 * The whole body. A body that is too large is read to its end too: many clients read a response only after they have
 * sent the request. Never rejects.
 */
export function readBody(request: IncomingMessage): Promise<Buffer | 'too large' | 'aborted'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_BYTES) chunks.push(chunk)
      else chunks.length = 0
      if (length > MAX_DRAINED_BYTES) request.destroy()
    })
    request.once('end', () => resolve(length > MAX_BYTES ? 'too large' : Buffer.concat(chunks)))
    request.on('error', () => resolve('aborted'))
    request.once('close', () => resolve('aborted'))
  })
}

/** The parts of a request of Node that an event has. */
type ReceivedRequest = Pick<IncomingMessage, 'method' | 'headers' | 'headersDistinct' | 'httpVersion'> & {
  socket: { remoteAddress?: string | undefined }
}

type AuthorizedRequest = {
  request: ReceivedRequest
  requestId: string
  match: RouteMatch
  authorizerContext: AuthorizerContext
  body: Buffer
  /** The URL by which the client has reached the gateway. */
  baseUrl: string
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
export function toProxyEvent(params: AuthorizedRequest): ServiceEvent {
  const { request, requestId, match, authorizerContext, body, baseUrl } = params
  const { route, path, search, parameters } = match
  const query = new URLSearchParams(search)
  const isText = isUtf8(body)
  return {
    resource: route.path,
    path,
    httpMethod: request.method ?? '',
    headers: request.headers as Record<string, string>,
    multiValueHeaders: request.headersDistinct as Record<string, string[]>,
    // The last value of each name.
    queryStringParameters: query.size > 0 ? Object.fromEntries(query) : null,
    multiValueQueryStringParameters: query.size > 0 ? multiValues(query) : null,
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    requestContext: {
      requestId,
      authorizer: authorizerContext,
      path,
      resourcePath: route.path,
      httpMethod: request.method,
      stage: 'local',
      protocol: `HTTP/${request.httpVersion}`,
      requestTimeEpoch: Date.now(),
      accountId: '000000000000',
      apiId: 'local',
      resourceId: route.operation,
      identity: {
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? null,
      },
    } as unknown as APIGatewayProxyEvent['requestContext'],
    body: body.length === 0 ? null : body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
    baseUrl,
  }
}

const multiValues = (query: URLSearchParams): Record<string, string[]> =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
