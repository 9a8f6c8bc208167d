import { Readable } from 'node:stream'
import type { MiddlewareObj, Request } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { type Environment, readSetting } from '../environment.ts'
import { type CorsOrigins, parseCorsOrigins } from '../host-list.ts'
import { addVary, getHeader, type ServiceEvent } from './event.ts'

export type { CorsOrigins }

/** Request headers that the API reads. The last three are those of MCP. */
export const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'Prefer',
  'traceparent',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
]

/** Response headers that a page can read, beyond those that browsers always expose. */
const EXPOSED_HEADERS = [
  'Allow',
  'Cache-Status',
  'Link',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'WWW-Authenticate',
  'X-Cached-Document-Execution-Id',
  'X-Execution-Id',
  'X-Searched-Executions',
  'X-Searched-Until',
]

/** The longest time that a browser caches a preflight response (Chromium). */
export const MAX_AGE_SECONDS = 7_200

export function readCorsOrigins(environment: Environment = process.env): CorsOrigins {
  const text = readSetting('corsOrigins', environment)
  return text ? parseCorsOrigins(text) : []
}

export const allowsOrigin = (allowed: CorsOrigins, origin: string): boolean =>
  allowed === '*' || allowed.includes(origin)

export const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Whether a page is one of the service itself. The name in the Host header is evidence only if nobody else can give it
 * an address: API Gateway knows its domain names, and loopback names are fixed.
 */
export function isOwnOrigin(event: ServiceEvent, origin: string): boolean {
  const { domainName } = event.requestContext
  const { host, hostname } = URL.parse(origin) ?? {}
  if (hostname === undefined) return false
  return domainName ? host === domainName : host === getHeader(event, 'Host') && LOOPBACK.includes(hostname)
}

/** The headers that let the page that sent a request read its response; none for other origins. */
export function corsHeaders(allowed: CorsOrigins, origin: string | undefined): Record<string, string> {
  if (allowed.length === 0) return {}
  const vary = allowed === '*' ? {} : { Vary: 'Origin' }
  if (origin === undefined || !allowsOrigin(allowed, origin)) return vary
  return {
    ...vary,
    'Access-Control-Allow-Origin': allowed === '*' ? '*' : origin,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
  }
}

/** The response to a preflight request, without the headers of `corsHeaders`. */
export const preflightResult = (methods: string[]): APIGatewayProxyResult => ({
  statusCode: 204,
  headers: {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(', '),
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
  },
  body: '',
})

/** Adds CORS headers to responses and errors, and removes the body of a response to HEAD. */
export function responseHeaders(allowed: CorsOrigins): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  const addHeaders = ({ event, response }: Request<ServiceEvent, APIGatewayProxyResult>) => {
    if (!response) return
    const { Vary, ...headers } = corsHeaders(allowed, getHeader(event, 'Origin'))
    response.headers = { ...(Vary ? addVary(response.headers, Vary) : response.headers), ...headers }
    if (event.httpMethod === 'HEAD') removeBody(response)
  }
  return { after: addHeaders, onError: addHeaders }
}

/** A stream that nobody reads would remain open. */
function removeBody(response: APIGatewayProxyResult): void {
  // The type of the result knows no stream.
  const body: unknown = response.body
  if (body instanceof Readable) body.destroy()
  response.body = ''
}
