import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { ToolError } from '../tool.ts'
import { isAllowedHost, publicLookup, refusalOf } from './egress-policy.ts'

/** Where requests may go: hosts that the document allows, and the look-up of names (the system's by default). */
export type Reach = { allowedHosts: string[]; lookup?: LookupFunction | undefined }

export type Outgoing = {
  method: string
  url: URL
  headers: Record<string, string>
  body: string | null
  signal: AbortSignal
}

/**
 * Sends one request on a connection of its own, and resolves with the answer's head. Nothing is sent to an address
 * that the document may not reach; a redirect is an error.
 * @throws ToolError
 */
export async function sendRequest(request: Outgoing, reach: Reach): Promise<IncomingMessage> {
  const { method, url, body, signal } = request
  const refusal = refusalOf(url, reach.allowedHosts)
  if (refusal) throw new ToolError(`The URL of the tool ${refusal}.`)
  const lookup = isAllowedHost(url, reach.allowedHosts) ? reach.lookup : publicLookup(reach.lookup)
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const headers = { 'accept-encoding': 'identity', ...request.headers, ...length }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { request: open } = url.protocol === 'https:' ? https : http
    const options = { method, headers, signal, agent: false as const, ...(lookup && { lookup }) }
    open(url, options, resolve)
      .on('error', reject)
      .end(body ?? undefined)
  }).catch((error: Error) => {
    throw connectionError(error, url)
  })
  const refused = redirectOf(answer, url)
  if (refused === null) return answer
  answer.destroy()
  throw new ToolError(refused)
}

/** What became of a connection, worded for the model. */
export function connectionError(error: Error, url: URL): ToolError {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof ToolError) return new ToolError(`Refused to connect: ${error.message}.`)
  const isDropped = code === 'ECONNRESET' || code === 'EPIPE' || code?.startsWith('HPE_')
  const what = isDropped ? 'The connection was dropped' : `The host ${url.host} could not be reached`
  return new ToolError(`${what}: ${error.message || code}.`, { isTransient: true, cause: error })
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, url: URL): string | null {
  if (statusCode < 300 || statusCode > 399) return null
  const { location } = headers
  if (location === undefined) return `The answer has the status ${statusCode}, which is not a result.`
  const target = URL.canParse(location, url.href) ? new URL(location, url).href : location
  return `The answer is a redirect (${statusCode}) to ${target}, and redirects are not followed.`
}
