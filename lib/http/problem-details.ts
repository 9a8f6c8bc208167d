import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ProblemRecord } from '../api/schemas/problem-record.ts'
import { ServiceError } from '../core/errors.ts'
import type { ServiceEvent } from './event.ts'

/** Turns every error into problem details (RFC 9457). What it does not know is an internal error without details. */
export function problemDetails(): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  return {
    onError: (request) => {
      request.response = problemResult(asServiceError(request.error), request.event.requestContext.requestId)
    },
  }
}

export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  return new ServiceError('InternalError', 'The service failed. Quote the instance when you report it.', {
    cause: error,
  })
}

export function problemResult(error: ServiceError, requestId: string): APIGatewayProxyResult {
  return {
    statusCode: error.status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...error.headers },
    body: JSON.stringify(problemOf(error, requestId)),
  }
}

export function problemOf(error: ServiceError, requestId: string): ProblemRecord {
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
