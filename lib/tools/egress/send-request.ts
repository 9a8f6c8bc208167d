import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { ToolError } from '../tool.ts'
import { type EgressPolicy, findUrlProblem, lookupFor } from './egress-policy.ts'

export type OutgoingRequest = {
  method: string
  url: URL
  headers: Record<string, string>
  body: string | Buffer | null
  signal: AbortSignal
}

/**
 * Sends a request on a new connection, subject to the egress policy. Resolves when the response headers have arrived.
 * Redirects are not followed.
 * @throws ToolError, also if the response is a redirect
 */
export async function sendRequest(request: OutgoingRequest, policy: EgressPolicy): Promise<IncomingMessage> {
  const response = await requestOnce(request, policy)
  const unexpected = describeRedirect(response, request.url)
  if (unexpected === null) return response
  response.destroy()
  throw new ToolError(unexpected)
}

/** Like `sendRequest`, but returns a redirect like every other response. @throws ToolError */
export async function requestOnce(request: OutgoingRequest, policy: EgressPolicy): Promise<IncomingMessage> {
  const { method, url, body, signal } = request
  const problem = findUrlProblem(url, policy)
  if (problem) throw new ToolError(`The URL ${problem}.`)
  const lookup = lookupFor(url, policy)
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const headers = { 'accept-encoding': 'identity', ...request.headers, ...length }
  return new Promise<IncomingMessage>((resolve, reject) => {
    const { request: send } = url.protocol === 'https:' ? https : http
    const options = { method, headers, signal, agent: false as const, ...(lookup && { lookup }) }
    send(url, options, resolve)
      .on('error', reject)
      // Without an error: Node.js closes the connection if the response is 101 (Switching Protocols).
      .on('close', () => reject(Object.assign(new Error('no response'), { code: 'ECONNRESET' })))
      .end(body ?? undefined)
  }).catch((error: Error) => {
    throw toConnectionError(error, url)
  })
}

/** Converts the error of a socket or of the egress policy. */
export function toConnectionError(error: Error, url: URL): ToolError {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof ToolError) return new ToolError(`Connection denied: ${error.message}.`)
  const isReset = code === 'ECONNRESET' || code === 'EPIPE' || code?.startsWith('HPE_')
  const summary = isReset ? 'The connection was dropped' : `Could not connect to ${url.host}`
  return new ToolError(`${summary}: ${error.message || code}.`, { isTransient: true, cause: error })
}

function describeRedirect({ statusCode = 0, headers }: IncomingMessage, url: URL): string | null {
  if (statusCode < 300 || statusCode > 399) return null
  const { location } = headers
  if (location === undefined) return `Unexpected response status ${statusCode}.`
  const target = URL.canParse(location, url.href) ? new URL(location, url).href : location
  return `The response is a redirect (${statusCode}) to ${target}. Redirects are not followed.`
}
