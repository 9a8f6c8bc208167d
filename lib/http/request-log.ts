import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { logger } from '../logger.ts'
import type { ServiceEvent } from './event.ts'
import { toServiceError } from './problem-details.ts'

/**
 * Logs one line per request: the operation, the organization and the outcome. The cause is logged only for errors of the
 * service or its dependencies, because the details of the others may contain data of clients and agents.
 */
export function requestLog({
  operation,
}: {
  operation: string
}): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  const startedAt = new WeakMap<object, number>()
  const toEntry = (event: ServiceEvent, response: APIGatewayProxyResult | null | undefined) => ({
    operation,
    requestId: event.requestContext.requestId,
    organizationId: event.organizationId,
    executionId: response?.headers?.['X-Execution-Id'],
    status: response?.statusCode,
    durationMs: Math.round(performance.now() - (startedAt.get(event) ?? 0)),
  })
  return {
    before: ({ event }) => void startedAt.set(event, performance.now()),
    after: ({ event, response }) => logger.info('request completed', toEntry(event, response)),
    onError: ({ event, response, error }) => {
      const { code, cause } = toServiceError(error)
      const entry = { ...toEntry(event, response), code }
      if (cause === undefined) logger.info('request rejected', entry)
      else logger.error('request failed', { ...entry, cause: describeCause(cause) })
    },
  }
}

/** Leaves out all other properties of the error, which may contain data of clients. */
function describeCause(cause: unknown) {
  if (!(cause instanceof Error)) return { name: typeof cause }
  return { name: cause.name, message: cause.message, stack: cause.stack }
}
