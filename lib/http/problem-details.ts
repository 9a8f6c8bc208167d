import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ProblemRecord } from '../api/schemas/records.ts'
import { ServiceError } from '../core/errors.ts'
import type { ServiceEvent } from './event.ts'

/** Responds to every error with problem details (RFC 9457). An unexpected one becomes InternalError without details. */
export function problemDetails(): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  return {
    onError: (request) => {
      const error = toServiceError(request.error)
      request.response = toProblemResult(error, request.event.requestContext.requestId)
    },
  }
}

export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const detail = 'An unexpected error occurred. Quote the instance when you report it.'
  return new ServiceError('InternalError', detail, { cause: error })
}

export function toProblemResult(error: ServiceError, instance: string): APIGatewayProxyResult {
  const { code, title, status, message: detail, errors, members, headers } = error
  const type = `urn:agent-execution-service:problem:${code}`
  const fields = { type, title, status, detail, instance, code }
  const record: ProblemRecord = { ...fields, ...(errors && { errors }), ...members }
  return {
    statusCode: status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(record),
  }
}
