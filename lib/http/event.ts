import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { JsonObject } from '../core/json.ts'

/** A proxy event with what the middlewares have made of it. */
export type ServiceEvent = APIGatewayProxyEvent & {
  organizationId?: string
  query?: unknown
  checkedHeaders?: unknown
  json?: JsonObject
}

/** What an endpoint answers; a body goes out as JSON. */
export type HttpResponse = { status: number; body?: unknown; headers?: Record<string, string> }

export function toResult({ status, body, headers }: HttpResponse): APIGatewayProxyResult {
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

/** The value of a header, whatever its case. */
export function headerOf(event: APIGatewayProxyEvent, name: string): string | undefined {
  const wanted = name.toLowerCase()
  const entry = Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === wanted)
  return entry?.[1]
}

/** What stands before `/v1` in the URL that the client called: a stage's or custom domain's base path, mostly nothing. */
export function basePathOf(event: APIGatewayProxyEvent): string {
  const path = event.requestContext.path ?? event.path
  return path.slice(0, Math.max(path.indexOf('/v1/'), 0))
}
