import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Duplex, pipeline, type Readable } from 'node:stream'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import {
  functionOf,
  getOperation,
  isPublicPath,
  methodsOf,
  type OperationName,
} from '../../lib/api/routes.ts'
import { MethodNotAllowed, PayloadTooLarge, RouteNotFound, ServiceError } from '../../lib/core/errors.ts'
import { type CorsOrigins, corsHeaders, preflightResult } from '../../lib/http/cors.ts'
import { toProblemResult, toServiceError } from '../../lib/http/problem-details.ts'
import { type Authorizer, authorize, cacheAuthorizer } from './authorizer.ts'
import { checkEncoding } from './check-encoding.ts'
import { matchPath, type PathMatch } from './match-route.ts'
import { toProxyEvent } from './proxy-event.ts'
import { readBody } from './read-body.ts'

export type Handlers = Record<
  OperationName,
  (event: APIGatewayProxyEvent, context: object) => Promise<unknown>
>

export type GatewayOptions = {
  handlers: Handlers
  authorizer: Authorizer
  corsOrigins: CorsOrigins
  /** Called after each response, with a stream when it begins. */
  onResponse?: (entry: { method: string; path: string; status: number; ms: number }) => void
}

/**
 * API Gateway on this machine: turns HTTP requests into proxy events, calls the authorizer and the Lambda handlers, and
 * responds with problem details where API Gateway uses its gateway responses.
 */
export function createGateway({ handlers, authorizer, corsOrigins, onResponse }: GatewayOptions): Server {
  const options = { handlers, authorizer: cacheAuthorizer(authorizer), corsOrigins }
  // An import of node:http from an ES module also loads Node's fetch: 7 MB.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer(async (request, response) => {
    const startedAt = performance.now()
    const requestId = randomUUID()
    const result = await handleRequest(request, requestId, options).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) console.error('The gateway failed:', error)
      return toProblemResult(toServiceError(error), requestId)
    })
    const headers = { ...result.headers, ...corsHeaders(corsOrigins, request.headers.origin) }
    writeResponse(response, { ...result, headers }, requestId)
    const [path = ''] = (request.url ?? '').split('?')
    const ms = performance.now() - startedAt
    onResponse?.({ method: request.method ?? '', path: path.slice(0, 200), status: result.statusCode, ms })
  })
  // Longer than clients keep idle connections, so that the server closes none while a request is on its way.
  server.keepAliveTimeout = 65_000
  server.on('clientError', rejectMalformed)
  return server
}

/** Checks in the order of API Gateway: the URL and its route, the token, the size of the body. */
async function handleRequest(
  request: IncomingMessage,
  requestId: string,
  { handlers, authorizer, corsOrigins }: Omit<GatewayOptions, 'onResponse'>,
): Promise<APIGatewayProxyResult> {
  const body = readBody(request)
  try {
    const { pattern, match } = findPath(request)
    if (corsOrigins.length > 0 && request.method === 'OPTIONS') return preflightResult(methodsOf(pattern))
    const { authorization } = request.headers
    const isPublic = match ? getOperation(match.route.operation).public : isPublicPath(pattern)
    const route = `${request.method}${pattern}`
    const authorizerContext = isPublic ? {} : await authorize(authorizer, authorization, route)
    if (!match) throw new MethodNotAllowed(methodsOf(pattern))
    const event = toProxyEvent({ request, requestId, match, authorizerContext, body: await receive(body) })
    const context = { awsRequestId: requestId, functionName: functionOf(match.route.operation) }
    return (await handlers[match.route.operation](event, context)) as APIGatewayProxyResult
  } finally {
    await body
  }
}

/** @throws ServiceError if the body is incomplete or too large */
async function receive(body: ReturnType<typeof readBody>): Promise<Buffer> {
  const bytes = await body
  if (bytes === 'aborted')
    throw new ServiceError('BadRequest', 'The connection was closed before the body was complete.')
  if (bytes === 'too large')
    throw new PayloadTooLarge('API Gateway and Lambda accept requests of up to 6 MB.')
  return bytes
}

/** @throws ServiceError */
function findPath({ method = '', url = '' }: IncomingMessage): PathMatch {
  checkEncoding(url)
  const path = matchPath(method, url)
  if (!path) throw new RouteNotFound()
  return path
}

function writeResponse(response: ServerResponse, result: APIGatewayProxyResult, requestId: string): void {
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, String(value))
  if (typeof result.body !== 'string') {
    writeStream(response, result, requestId)
    return
  }
  const body = Buffer.from(result.body)
  if (result.statusCode !== 204 && result.statusCode !== 304)
    response.setHeader('Content-Length', body.length)
  response.writeHead(result.statusCode, { 'x-amzn-RequestId': requestId })
  response.end(body)
}

/** The stream is destroyed when its client closes the connection. */
function writeStream(response: ServerResponse, result: APIGatewayProxyResult, requestId: string): void {
  const stream = result.body as unknown as Readable
  response.writeHead(result.statusCode, { 'x-amzn-RequestId': requestId })
  response.flushHeaders()
  pipeline(stream, response, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') console.error('A stream failed:', error)
  })
}

/** Responds with problem details to bytes that Node cannot parse as HTTP. */
function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new PayloadTooLarge('The request line and the headers together must not exceed 16 kB.')
      : new ServiceError('BadRequest', 'The request is not valid HTTP.')
  const { statusCode, headers, body } = toProblemResult(problem, randomUUID())
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${statusCode} ${problem.title}\r\n${head}\r\n${body}`)
}
