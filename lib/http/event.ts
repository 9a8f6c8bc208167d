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

/** The response of an endpoint: a body that is sent as JSON, or a stream of bytes with its own content type. */
export type HttpResponse = {
  status: number
  body?: unknown
  stream?: ReadableStream<Uint8Array>
  headers?: Record<string, string>
}

/** A stream is read to its end unless the caller `streams` bodies: middy and the local gateway do. */
export async function toProxyResult(
  { status, body, stream, headers }: HttpResponse,
  streams: boolean,
): Promise<APIGatewayProxyResult> {
  const result = {
    statusCode: status,
    headers: {
      'Cache-Control': 'no-store',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
  }
  if (!stream) return { ...result, body: body === undefined ? '' : JSON.stringify(body) }
  // The types of Lambda do not describe streams.
  return { ...result, body: streams ? (stream as unknown as string) : await new Response(stream).text() }
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
