import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Duplex, pipeline, Readable } from 'node:stream'
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
  const server = createServer((request, response) => {
    // An error that nobody handles would end the process, and with it the requests of all other clients.
    response.on('error', () => undefined)
    respond(request, response).catch((error: unknown) => {
      reportFailure(error)
      if (!response.writableEnded) response.destroy()
    })
  })

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now()
    const requestId = randomUUID()
    const toProblem = (error: unknown) => {
      if (!(error instanceof ServiceError)) reportFailure(error)
      return toProblemResult(toServiceError(error), requestId)
    }
    const result = await handleRequest(request, requestId, options).catch(toProblem)
    const cors = corsHeaders(corsOrigins, request.headers.origin)
    const status = writeResponse(response, result, { 'x-amzn-RequestId': requestId, ...cors }, toProblem)
    const [path = ''] = (request.url ?? '').split('?')
    const ms = performance.now() - startedAt
    onResponse?.({ method: request.method ?? '', path: path.slice(0, 200), status, ms })
  }

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
  if (path) return path
  throw method === 'POST' && /^\/register\/?(\?|$)/.test(url) ? noRegistration() : new RouteNotFound()
}

const reportFailure = (error: unknown) => console.error('The gateway failed:', error)

const NO_OAUTH =
  'This service has no OAuth sign-in: configure the client to send an API token in the header "Authorization: Bearer <API token>".'

/**
 * After a 401, clients of the Model Context Protocol that find no OAuth metadata register themselves at this path and show why
 * that failed (RFC 7591, section 3.2.2).
 */
const noRegistration = () =>
  new ServiceError('RouteNotFound', NO_OAUTH, {
    members: { error: 'access_denied', error_description: NO_OAUTH },
  })

/**
 * Responds with the result of a function; if Node does not accept it, for example because of a line break in a header, with
 * a problem. Returns the status.
 */
function writeResponse(
  response: ServerResponse,
  result: APIGatewayProxyResult,
  headers: Record<string, string>,
  toProblem: (error: unknown) => APIGatewayProxyResult,
): number {
  const body = result?.body as unknown as string | Readable
  try {
    for (const [name, value] of Object.entries({ ...result.headers, ...headers }))
      response.setHeader(name, String(value))
    if (typeof body === 'string') writeText(response, result.statusCode, body)
    else writeStream(response, result.statusCode, body)
    return result.statusCode
  } catch (error) {
    if (body instanceof Readable) body.destroy()
    if (response.headersSent) throw error
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    return writeResponse(response, toProblem(error), headers, () => {
      throw error
    })
  }
}

function writeText(response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(text)
  if (status !== 204 && status !== 304) response.setHeader('Content-Length', body.length)
  response.writeHead(status)
  response.end(body)
}

/** The stream is destroyed as soon as nobody reads it: its client has closed the connection, or has sent HEAD. */
function writeStream(response: ServerResponse, status: number, stream: Readable): void {
  const { socket, method } = response.req
  stream.on('error', () => undefined)
  response.writeHead(status)
  if (socket.destroyed || response.destroyed || method === 'HEAD') {
    stream.destroy()
    response.end()
    return
  }
  response.flushHeaders()
  // A response that waits for an earlier one of its connection does not learn that the connection is closed.
  const stop = () => stream.destroy()
  socket.once('close', stop)
  pipeline(stream, response, (error) => {
    socket.off('close', stop)
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
