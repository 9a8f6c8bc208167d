import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { logger } from '../logger.ts'
import type { ServiceEvent } from './event.ts'

/** One line a request: what was called, for whom, the outcome. The cause of a 5xx is logged, and only there. */
export function requestLog({
  operation,
}: {
  operation: string
}): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  const startedAt = new WeakMap<object, number>()
  const line = (event: ServiceEvent, response: APIGatewayProxyResult | null | undefined) => ({
    operation,
    requestId: event.requestContext.requestId,
    organizationId: event.organizationId,
    status: response?.statusCode,
    durationMs: Math.round(performance.now() - (startedAt.get(event) ?? 0)),
  })
  return {
    before: ({ event }) => void startedAt.set(event, performance.now()),
    after: ({ event, response }) => logger.info('answered', line(event, response)),
    onError: ({ event, response, error }) => {
      if ((response?.statusCode ?? 500) < 500) logger.info('refused', line(event, response))
      else logger.error('failed', { ...line(event, response), error: causeOf(error) })
    },
  }
}

function causeOf(error: unknown): Error {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause : new Error(String(cause))
}
