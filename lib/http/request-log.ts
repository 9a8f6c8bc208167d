import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ServiceError } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { describeCause, logger } from '../logger.ts'
import type { ServiceEvent } from './event.ts'
import { toServiceError } from './problem-details.ts'

/** The messages of the log. Metric filters of the stack match the first one. */
export const REQUEST_COMPLETED = 'request completed'
const REQUEST_REJECTED = 'request rejected'
const REQUEST_FAILED = 'request failed'

/** Errors of the service or its dependencies. Those of agents have other codes, even if they share the status. */
const SERVER_ERROR_CODES = ['InternalError', 'Unavailable']

/**
 * Logs one line per request: the operation, the organization and the outcome. The cause is logged only for errors of
 * the service or its dependencies, because the details of the others may contain data of clients and agents. These
 * errors are also counted, and only they load the metrics.
 */
export function requestLog(operation: string): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  const startedAt = new WeakMap<object, number>()
  const toEntry = (event: ServiceEvent, response: APIGatewayProxyResult | null | undefined) => {
    const durationMs = Math.round(performance.now() - (startedAt.get(event) ?? 0))
    const { executionMs } = event
    return {
      operation,
      requestId: event.requestContext.requestId,
      organizationId: event.access?.organizationId,
      executionId: response?.headers?.['X-Execution-Id'] ?? idInPath(event),
      status: response?.statusCode,
      // Present if the request waited for the execution to complete: its duration is then the client's choice.
      preferenceApplied: response?.headers?.['Preference-Applied'],
      durationMs,
      // Both clocks are rounded.
      overheadMs: executionMs === undefined ? undefined : Math.max(durationMs - executionMs, 0),
    }
  }
  return {
    before: ({ event }) => void startedAt.set(event, performance.now()),
    after: ({ event, response }) => logger.info(REQUEST_COMPLETED, toEntry(event, response)),
    onError: async ({ event, response, error }) => {
      const { code, cause } = toServiceError(error)
      const entry = { ...toEntry(event, response), code }
      if (!SERVER_ERROR_CODES.includes(code)) return logger.info(REQUEST_REJECTED, entry)
      await logServerError(entry, cause)
    },
  }
}

/** Not what else a client can write there. */
function idInPath({ pathParameters }: ServiceEvent): string | undefined {
  const id = pathParameters?.executionId
  return id !== undefined && isUuid(id) ? id : undefined
}

/** Logs and counts an error of the service that is not the response to the request: a stream reports it. */
export async function reportServerError(
  operation: string,
  { requestContext: { requestId }, access }: ServiceEvent,
  { code, cause }: ServiceError,
): Promise<void> {
  await logServerError({ operation, requestId, organizationId: access?.organizationId, code }, cause)
}

async function logServerError(
  entry: { operation: string; requestId: string; organizationId: string | undefined; code: string },
  cause: unknown,
): Promise<void> {
  logger.error(REQUEST_FAILED, { ...entry, cause: describeCause(cause) })
  const { countServerError } = await import('../metrics.ts')
  countServerError(entry)
}
