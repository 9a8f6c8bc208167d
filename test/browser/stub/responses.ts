import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { ServiceError } from '../../../lib/core/errors.ts'
import type { HttpResponse } from '../../../lib/http/event.ts'
import { toProblemResult } from '../../../lib/http/problem-details.ts'

const INSTANCE = 'request-1'

export const ok = (body: unknown): HttpResponse => ({ status: 200, body })

/** What the service responds to an error. */
export function failure(error: ServiceError): HttpResponse {
  const { statusCode, headers, body } = toProblemResult(error, INSTANCE)
  return { status: statusCode, headers: headers as Record<string, string>, body: JSON.parse(body) }
}

/** The page of a list that is asked for, with a link to the next one. */
export function pageOf(
  items: unknown[],
  { path, queryStringParameters }: APIGatewayProxyEvent,
): HttpResponse {
  const { limit = '50', cursor = '0' } = queryStringParameters ?? {}
  const end = Number(cursor) + Number(limit)
  const next = new URLSearchParams({ ...queryStringParameters, limit, cursor: String(end) } as Record<
    string,
    string
  >)
  return {
    ...ok(items.slice(Number(cursor), end)),
    ...(end < items.length && { headers: { Link: `<${path}?${next}>; rel="next"` } }),
  }
}
