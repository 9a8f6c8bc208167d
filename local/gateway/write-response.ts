import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Duplex, pipeline, Readable } from 'node:stream'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { ServiceError } from '../../lib/core/errors.ts'
import { PayloadTooLarge } from '../../lib/core/request-errors.ts'
import { toProblemResult } from '../../lib/http/problem-details.ts'

/**
 * Responds with the result of a function; if Node does not accept it, for example because of a line break in a header,
 * with a problem. Returns the status.
 */
export function writeResponse(
  response: ServerResponse,
  result: APIGatewayProxyResult,
  headers: Record<string, string>,
  toProblem: (error: unknown) => APIGatewayProxyResult,
): number {
  const body = result?.body as unknown as string | Readable
  try {
    for (const [name, value] of Object.entries({ ...headers, ...result?.headers }))
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

/** The stream is destroyed as soon as it has no reader: its client has closed the connection, or has sent HEAD. */
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

/** Responds with problem details to a request that Node cannot parse as HTTP, or that was not complete in time. */
export function rejectMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const problem = toProblem(error.code)
  const { statusCode, headers, body } = toProblemResult(problem, randomUUID())
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${statusCode} ${problem.members.title ?? problem.title}\r\n${head}\r\n${body}`)
}

function toProblem(code: string | undefined): ServiceError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new PayloadTooLarge('The request line and the headers together must not exceed 16 kB.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ServiceError('BadRequest', 'The request was not complete in time.', {
      status: 408,
      members: { title: 'Request Timeout' },
    })
  return new ServiceError('BadRequest', 'The request is not valid HTTP.')
}
