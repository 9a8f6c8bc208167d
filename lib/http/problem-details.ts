import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { type ProtectedResource, readProvider, toProtectedResource } from '../access/protected-resource.ts'
import type { Operation } from '../contract/operations/operation.ts'
import type { ProblemRecord } from '../contract/records/records.ts'
import { type Challenge, ServiceError } from '../core/errors.ts'
import { getBaseUrl, type ServiceEvent } from './event.ts'

/** Responds to every error with problem details (RFC 9457). An unexpected one becomes InternalError without details. */
export function problemDetails(operation: Operation): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  return {
    onError: (request) => {
      const { event } = request
      event.failure = request.error
      const error = toServiceError(request.error)
      const provider = error.challenge && readProvider()
      const resource = provider && toProtectedResource(provider, getBaseUrl(event), operation)
      request.response = toProblemResult(error, event.requestContext.requestId, resource)
    },
  }
}

export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const detail = 'An unexpected error occurred. Quote the instance when you report it.'
  return new ServiceError('InternalError', detail, { cause: error })
}

/** @param resource what the request was for, if the service has an identity provider */
export function toProblemResult(
  error: ServiceError,
  instance: string,
  resource?: ProtectedResource,
): APIGatewayProxyResult {
  const { code, title, status, message: detail, errors, members, headers, challenge } = error
  const type = `urn:agent-execution-service:problem:${code}`
  const fields = { type, title, status, detail, instance, code }
  const record: ProblemRecord = { ...fields, ...(errors && { errors }), ...members }
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...headers,
      ...(challenge && { 'WWW-Authenticate': toChallengeHeader(challenge, resource) }),
    },
    body: JSON.stringify(record),
  }
}

/** RFC 6750, section 3; with an identity provider also RFC 9728, section 5.1. */
function toChallengeHeader(challenge: Challenge, resource: ProtectedResource | undefined): string {
  const { error, description, scopes } = challenge
  const { provider } = resource ?? {}
  const isGranted = scopes === undefined || scopes.some((scope) => provider?.grants(scope))
  const asked = isGranted ? provider?.toProviderScopes(scopes ?? resource?.scopes ?? []) : scopes
  const parameters = {
    error,
    error_description: description,
    scope: asked?.join(' '),
    resource_metadata: resource?.metadataUrl,
  }
  const given = Object.entries(parameters).filter(([, value]) => value)
  return ['Bearer', given.map(([name, value]) => `${name}="${value}"`).join(', ')].join(' ').trim()
}
