import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { OperationName } from '../lib/api/routes.ts'
import { getOperation } from '../lib/api/routes.ts'
import {
  PayloadTooLarge,
  RouteNotFound,
  ServiceError,
  Unauthorized,
  Unavailable,
} from '../lib/core/errors.ts'
import { toProblemResult, toServiceError } from '../lib/http/problem-details.ts'
import { type Authorizer, authorize } from './authorize.ts'
import { cacheAuthorizer } from './authorizer-cache.ts'
import { matchRoute } from './match-route.ts'
import { type Call, toProxyEvent } from './proxy-event.ts'
import { readBody } from './read-body.ts'

export type Handlers = Record<
  OperationName,
  (event: APIGatewayProxyEvent, context: object) => Promise<unknown>
>

export type GatewayOptions = {
  handlers: Handlers
  authorizer: Authorizer
  /** Called when a request has been answered. */
  onAnswer?: (line: { method: string; path: string; status: number; ms: number }) => void
}

/**
 * API Gateway on this machine: turns HTTP requests into proxy events, asks the authorizer, calls the handlers that
 * Lambda would call, and answers in problem details where API Gateway's own responses would.
 */
export function createGateway({ handlers, authorizer: asked, onAnswer }: GatewayOptions): Server {
  const authorizer = cacheAuthorizer(asked)
  // Imported, it would load Node's fetch with it: 7 MB.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer(async (request, response) => {
    const startedAt = performance.now()
    const requestId = randomUUID()
    const result = await answer(request, requestId, { handlers, authorizer }).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) console.error('The gateway failed:', error)
      return toProblemResult(toServiceError(error), requestId)
    })
    send(response, result, requestId)
    const [path = ''] = (request.url ?? '').split('?')
    const ms = performance.now() - startedAt
    onAnswer?.({ method: request.method ?? '', path: path.slice(0, 200), status: result.statusCode, ms })
  })
  // Longer than any client keeps an idle connection, so that none is closed under a request on its way.
  server.keepAliveTimeout = 65_000
  server.on('clientError', refuseMalformed)
  return server
}

/** As API Gateway does: the route first, then the token, then the size of the body. */
async function answer(
  request: IncomingMessage,
  requestId: string,
  { handlers, authorizer }: Pick<GatewayOptions, 'handlers' | 'authorizer'>,
): Promise<APIGatewayProxyResult> {
  const body = readBody(request)
  const match = matchRoute(request.method ?? '', request.url ?? '')
  if (!match) {
    await body
    throw new RouteNotFound()
  }
  const authorization = getOperation(match.route.function).public
    ? {}
    : await authorize(authorizer, request.headers.authorization, match).catch(async (error: unknown) => {
        await body
        throw error instanceof Unauthorized ? error : new Unavailable(error)
      })
  const bytes = await body
  if (bytes === 'gone')
    throw new ServiceError('BadRequest', 'The connection was closed before the body had arrived.')
  if (bytes === 'too large') throw new PayloadTooLarge('API Gateway and Lambda take requests of up to 6 MB.')
  const call: Call = { request, requestId, match, authorization, body: bytes }
  return (await handlers[match.route.function](toProxyEvent(call), {
    awsRequestId: requestId,
    functionName: match.route.function,
  })) as APIGatewayProxyResult
}

function send(response: ServerResponse, result: APIGatewayProxyResult, requestId: string): void {
  const body = Buffer.from(result.body)
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, String(value))
  if (result.statusCode !== 204) response.setHeader('Content-Length', body.length)
  response.writeHead(result.statusCode, { 'x-amzn-RequestId': requestId })
  response.end(body)
}

/** What Node cannot read as HTTP never becomes a request; it is answered here in the same form. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new PayloadTooLarge('The request line and headers together may have 16 kB.')
      : new ServiceError('BadRequest', 'The bytes that were sent are no HTTP request.')
  const { statusCode, headers, body } = toProblemResult(problem, randomUUID())
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${statusCode} ${problem.title}\r\n${head}\r\n${body}`)
}
