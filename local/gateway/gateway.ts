import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { readProvider, toProtectedResource } from '../../lib/access/protected-resource.ts'
import { functionOf, getOperation, isPublicPath, methodsOf } from '../../lib/contract/routes.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { MethodNotAllowed, RouteNotFound } from '../../lib/core/request-errors.ts'
import { readSetting } from '../../lib/environment.ts'
import { type CorsOrigins, corsHeaders, LOOPBACK, preflightResult } from '../../lib/http/cors.ts'
import { assertFitsInvocation, RequestTooLarge } from '../../lib/http/invocation-size.ts'
import { toProblemResult, toServiceError } from '../../lib/http/problem-details.ts'
import { type Authorizer, authorize, cacheAuthorizer, type Handlers } from './functions.ts'
import { checkEncoding, matchPath, type PathMatch, readBody, toProxyEvent } from './proxy-event.ts'
import { rejectMalformed, writeResponse } from './write-response.ts'

export type GatewayOptions = {
  handlers: Handlers
  authorizer: Authorizer
  corsOrigins: CorsOrigins
  /** The URL of the service for its clients. By default, the address by which they reach it. */
  publicUrl?: string | undefined
  /** How long a client may take to send a request. */
  receiveMs?: number
  /** Called after each response, with a stream when it begins. */
  onResponse?: (entry: { method: string; path: string; status: number; ms: number }) => void
}

/** Five minutes, as in Node: large bodies over slow connections. */
const RECEIVE_MS = 300_000

/**
 * API Gateway on this machine: turns HTTP requests into proxy events, calls the authorizer and the Lambda handlers, and
 * responds with problem details where API Gateway uses its gateway responses.
 */
export function createGateway(params: GatewayOptions): Server {
  const { handlers, authorizer, corsOrigins, publicUrl, receiveMs = RECEIVE_MS, onResponse } = params
  const options = { handlers, authorizer: cacheAuthorizer(authorizer), corsOrigins }
  // An import of node:http from an ES module also loads Node's fetch: 7 MB.
  const { createServer } = process.getBuiltinModule('node:http')
  const timeouts = { requestTimeout: receiveMs, connectionsCheckingInterval: Math.min(receiveMs, 30_000) }
  const server = createServer(timeouts, (request, response) => {
    // An unhandled error would end the process, and with it the requests of all other clients.
    response.on('error', () => undefined)
    respond(request, response).catch((error: unknown) => {
      reportFailure(error)
      if (!response.writableEnded) response.destroy()
    })
  })

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now()
    const requestId = randomUUID()
    const baseUrl = publicUrl ?? baseUrlOf(request)
    const toProblem = (thrown: unknown) => {
      if (!(thrown instanceof ServiceError)) reportFailure(thrown)
      const error = toServiceError(thrown)
      return toProblemResult(error, requestId, error.challenge && requestedResource(request, baseUrl))
    }
    const result = await handleRequest(request, { ...options, requestId, baseUrl }).catch(toProblem)
    const cors = corsHeaders(corsOrigins, request.headers.origin)
    const status = writeResponse(response, result, { 'x-amzn-RequestId': requestId, ...cors }, toProblem)
    const [path = ''] = (request.url ?? '').split('?')
    const ms = performance.now() - startedAt
    onResponse?.({ method: request.method ?? '', path: path.slice(0, MAX_SHOWN_PATH), status, ms })
  }

  // Longer than clients keep idle connections, so that the server closes none while a request is on its way.
  server.keepAliveTimeout = 65_000
  // A client can send any number of requests without waiting for the responses: each listens for the end.
  server.on('connection', (socket) => socket.setMaxListeners(0))
  server.on('clientError', rejectMalformed)
  return server
}

/** Checks in the order of API Gateway: the URL and its route, the token, the size of the body. */
async function handleRequest(
  request: IncomingMessage,
  options: Pick<GatewayOptions, 'handlers' | 'authorizer' | 'corsOrigins'> & {
    requestId: string
    baseUrl: string
  },
): Promise<APIGatewayProxyResult> {
  const { handlers, authorizer, corsOrigins, requestId, baseUrl } = options
  const body = readBody(request)
  let isHungUp = false
  let hungUp: AbortController | undefined
  const hangUp = () => {
    isHungUp = true
    hungUp?.abort(new ServiceError('BadRequest', 'The client closed the connection.'))
  }
  request.socket.once('close', hangUp)
  try {
    const { pattern, match } = findPath(request)
    if (corsOrigins.length > 0 && request.method === 'OPTIONS') return preflightResult(methodsOf(pattern))
    const { authorization } = request.headers
    const isPublic = match ? getOperation(match.route.operation).public : isPublicPath(pattern)
    const route = `${request.method}${pattern}`
    const authorizerContext = isPublic ? {} : await authorize(authorizer, authorization, route)
    if (!match) throw new MethodNotAllowed(methodsOf(pattern))
    const received = await receive(body)
    const event = toProxyEvent({ request, requestId, match, authorizerContext, body: received, baseUrl })
    assertFitsInvocation(event)
    const functionName = functionOf(match.route.operation)
    const context = {
      awsRequestId: requestId,
      functionName,
      /** Most requests do not use it. */
      get signal() {
        hungUp ??= new AbortController()
        if (isHungUp) hangUp()
        return hungUp.signal
      },
    }
    return (await handlers[match.route.operation](event, context)) as APIGatewayProxyResult
  } finally {
    request.socket.off('close', hangUp)
    await body
  }
}

/** @throws ServiceError if the body is incomplete or too large */
async function receive(body: ReturnType<typeof readBody>): Promise<Buffer> {
  const bytes = await body
  if (bytes === 'aborted')
    throw new ServiceError('BadRequest', 'The connection was closed before the body was complete.')
  if (bytes === 'too large') throw new RequestTooLarge()
  return bytes
}

/** Characters of a path in an error or a log. */
const MAX_SHOWN_PATH = 200

/** @throws ServiceError */
function findPath({ method = '', url = '' }: IncomingMessage): PathMatch {
  checkEncoding(url)
  const path = matchPath(method, url)
  if (path) return path
  const isRegistration = method === 'POST' && /^\/register\/?(\?|$)/.test(url)
  if (isRegistration && !readSetting('oidcIssuer')) throw noRegistration()
  const [requested = ''] = url.split('?')
  const meant = `/v1${requested.slice(0, MAX_SHOWN_PATH)}`
  throw new RouteNotFound(matchPath(method, meant)?.match ? meant : undefined)
}

/**
 * The URL by which a client has reached the service. The header Host counts if it names this machine and the port of
 * the connection: any other name could be anyone's.
 */
function baseUrlOf({ headers, socket }: IncomingMessage): string {
  const { localAddress = '127.0.0.1', localPort } = socket
  const named = URL.parse(`http://${headers.host}`)
  if (named && LOOPBACK.includes(named.hostname) && Number(named.port || 80) === localPort)
    return named.origin
  const address = localAddress.replace(/^::ffff:(?=\d+\.)/, '')
  return `http://${isIPv6(address) ? `[${address}]` : address}:${localPort}`
}

/** What a request is for that has no valid token, if there is an identity provider. */
function requestedResource({ method = '', url = '' }: IncomingMessage, baseUrl: string) {
  const provider = readProvider()
  const path = provider && matchPath(method, url)
  if (!path) return undefined
  const operation = path.match ? getOperation(path.match.route.operation) : {}
  return toProtectedResource(provider, baseUrl, { ...operation, path: path.pattern })
}

const reportFailure = (error: unknown) => console.error('The gateway failed:', error)

const NO_OAUTH =
  'This service has no OAuth sign-in: configure the client to send an API token in the header "Authorization: Bearer <API token>".'

/**
 * After a 401, clients of the Model Context Protocol that find no OAuth metadata register themselves at this path and
 * show why that failed (RFC 7591, section 3.2.2).
 */
const noRegistration = () =>
  new ServiceError('RouteNotFound', NO_OAUTH, {
    members: { error: 'access_denied', error_description: NO_OAUTH },
  })
