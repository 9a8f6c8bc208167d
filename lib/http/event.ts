import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { Access } from '../core/access.ts'
import type { JsonObject } from '../core/json.ts'

/** A proxy event with what the middlewares add. */
export type ServiceEvent = APIGatewayProxyEvent & {
  access?: Access
  query?: unknown
  validHeaders?: unknown
  json?: JsonObject
}

/** The response of an endpoint. The body is sent as JSON. */
export type HttpResponse = { status: number; body?: unknown; headers?: Record<string, string> }

export function toProxyResult({ status, body, headers }: HttpResponse): APIGatewayProxyResult {
  return {
    statusCode: status,
    headers: {
      'Cache-Control': 'no-store',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? '' : JSON.stringify(body),
  }
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
  const segments = event.resource.split('/').length - 1
  return path.split('/').slice(0, -segments).join('/')
}
