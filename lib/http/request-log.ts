import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { logger } from '../logger.ts'
import type { ServiceEvent } from './event.ts'
import { asServiceError } from './problem-details.ts'

/**
 * One line a request: what was called, for whom, the outcome. Only a fault of ours or of a dependency is logged with
 * what caused it: the detail of every other problem may hold what a client sent or an agent said.
 */
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
    executionId: response?.headers?.['X-Execution-Id'],
    status: response?.statusCode,
    durationMs: Math.round(performance.now() - (startedAt.get(event) ?? 0)),
  })
  return {
    before: ({ event }) => void startedAt.set(event, performance.now()),
    after: ({ event, response }) => logger.info('answered', line(event, response)),
    onError: ({ event, response, error }) => {
      const { code, cause } = asServiceError(error)
      const entry = { ...line(event, response), code }
      if (cause === undefined) logger.info('refused', entry)
      else logger.error('failed', { ...entry, cause: describeCause(cause) })
    },
  }
}

/** Name, message and stack, and nothing else that an error may carry. */
function describeCause(cause: unknown) {
  if (!(cause instanceof Error)) return { name: typeof cause }
  return { name: cause.name, message: cause.message, stack: cause.stack }
}
