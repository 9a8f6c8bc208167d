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

export function toProblemResult(error: ServiceError, requestId: string): APIGatewayProxyResult {
  return {
    statusCode: error.status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...error.headers },
    body: JSON.stringify(toProblemRecord(error, requestId)),
  }
}

function toProblemRecord(error: ServiceError, requestId: string): ProblemRecord {
  return {
    type: `urn:agent-execution-service:problem:${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.message,
    instance: requestId,
    code: error.code,
    ...(error.errors && { errors: error.errors }),
    ...error.members,
  }
}
