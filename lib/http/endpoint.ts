import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/executionModeStreamifyResponse'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ValuesOf } from '../api/parameter.ts'
import { type OperationName, operationOf, type operations } from '../api/routes.ts'
import type { JsonObject } from '../core/json.ts'
import { RESPONSE_STREAMING } from '../environment.ts'
import { basePathOf, type Reply, type ServiceEvent, toResult } from './event.ts'
import { identity } from './identity.ts'
import { jsonBody } from './json-body.ts'
import { problemDetails } from './problem-details.ts'
import { queryParameters } from './query-parameters.ts'
import { requestHeaders } from './request-headers.ts'
import { requestLog } from './request-log.ts'

/** A request that has passed every check at the edge. */
export type Request<Name extends OperationName = OperationName> = {
  requestId: string
  organizationId: string
  query: ValuesOf<(typeof operations)[Name]['query']>
  headers: HeadersOf<(typeof operations)[Name]>
  /** Parameters of the path, still unchecked. */
  agentId: string
  executionId: string
  body: JsonObject
  /** Goes before the path of every link. */
  basePath: string
  /** The path that was called, base path included. */
  path: string
}

type HeadersOf<O> = O extends { headers: infer H } ? ValuesOf<H> : Record<never, never>

/** The Lambda handler of an operation: checks the request as `routes.ts` says, answers with JSON or problem details. */
export function endpoint<Name extends OperationName>(
  name: Name,
  inner: (request: Request<Name>) => Promise<Reply>,
) {
  const operation = operationOf(name)
  const streams = operation.streams && process.env[RESPONSE_STREAMING] === 'on'
  const handler = middy<ServiceEvent, APIGatewayProxyResult>(
    streams ? { executionMode: executionModeStreamifyResponse } : {},
  )
    .use(requestLog({ operation: name }))
    .use(problemDetails())
  if (!operation.open) handler.use(identity())
  handler.use(queryParameters(operation.query))
  if (operation.headers) handler.use(requestHeaders(operation.headers))
  if (operation.body) handler.use(jsonBody())
  return handler.handler(async (event: ServiceEvent) => toResult(await inner(toRequest<Name>(event))))
}

function toRequest<Name extends OperationName>(event: ServiceEvent): Request<Name> {
  return {
    requestId: event.requestContext.requestId,
    organizationId: event.organizationId ?? '',
    query: event.query as Request<Name>['query'],
    headers: (event.checkedHeaders ?? {}) as Request<Name>['headers'],
    agentId: event.pathParameters?.agentId ?? '',
    executionId: event.pathParameters?.executionId ?? '',
    body: event.json ?? {},
    basePath: basePathOf(event),
    path: event.requestContext.path ?? event.path,
  }
}
