import type { Readable } from 'node:stream'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { Access } from '../core/access.ts'
import type { StartedChange } from '../core/audit.ts'
import type { Json } from '../core/json/json.ts'
import { readSetting } from '../environment.ts'

/** A proxy event with what the middlewares add. */
export type ServiceEvent = APIGatewayProxyEvent & {
  access?: Access
  query?: unknown
  validHeaders?: unknown
  json?: Json
  /** How long the execution took that the response waited for; absent unless the request starts one. Milliseconds. */
  executionMs?: number | undefined
  /** Set by the local gateway: the URL by which it was reached, without a slash at its end. */
  baseUrl?: string
  /** Set by a command that calls a function in its process, for an operator: who makes changes, and from where. */
  operator?: Pick<StartedChange, 'actor' | 'source'>
  /** The error of a request that has failed, for a caller in the same process. */
  failure?: unknown
}

/** Whether the operations that stream their responses do: with the setting `responseStreaming`, and locally. */
export const isStreaming = (): boolean => Boolean(readSetting('responseStreaming'))

/** The response of an endpoint. The body is sent as JSON; a stream, or its text, as it is. */
export type HttpResponse = {
  status: number
  body?: unknown
  stream?: Readable | string
  headers?: Record<string, string>
  /** Of a run: how long its execution took before the response, in milliseconds; 0 if the response did not wait. */
  executionMs?: number
}

/** A stream as body is for middy's streamed responses and the local gateway. The type of the result knows none. */
export function toProxyResult({ status, body, stream, headers }: HttpResponse): APIGatewayProxyResult {
  return {
    statusCode: status,
    headers: {
      'Cache-Control': 'no-store',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: (stream as string | undefined) ?? (body === undefined ? '' : JSON.stringify(body)),
  }
}

/** The headers, with one more name in `Vary`. */
export function addVary<Value>(headers: Record<string, Value> | undefined, name: string) {
  const { Vary, ...others } = headers ?? {}
  return { ...others, Vary: Vary === undefined ? name : `${Vary}, ${name}` }
}

/** Header names are case-insensitive. */
export function getHeader(event: APIGatewayProxyEvent, name: string): string | undefined {
  const lowerCaseName = name.toLowerCase()
  const entry = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === lowerCaseName)
  return entry?.[1]
}

/**
 * What precedes the route in the requested path: the stage or the base path of a custom domain, usually empty. Both can
 * contain `/v1`, so the number of segments of the route decides.
 */
export function getBasePath(event: APIGatewayProxyEvent): string {
  const path = (event.requestContext.path ?? event.path).replace(/\/$/, '')
  const [segments, ofRoute] = [path.split('/'), event.resource.split('/').filter(Boolean)]
  return segments.slice(0, segments.length - ofRoute.length).join('/')
}

/**
 * The URL of the service for its clients, without a slash at its end. Not by the headers Host and X-Forwarded-Host,
 * which anyone can send: API Gateway knows the domain name by which it was reached.
 */
export const getBaseUrl = (event: ServiceEvent): string =>
  event.baseUrl ??
  (readSetting('publicUrl') || `https://${event.requestContext.domainName}${getBasePath(event)}`)
