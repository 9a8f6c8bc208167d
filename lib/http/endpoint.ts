import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/executionModeStreamifyResponse'
import type { APIGatewayProxyResult, Context } from 'aws-lambda'
import type * as z from 'zod/mini'
import type { Begin, Note } from '../access/audit-log.ts'
import type { ParametersName } from '../contract/operations/operation.ts'
import type { parameterSchemas } from '../contract/parameters/parameters.ts'
import { NO_PARAMETERS, type PathParameters } from '../contract/parameters/path-parameters.ts'
import { getOperation, type OperationName, type operations, routes } from '../contract/routes.ts'
import { type Access, ANONYMOUS } from '../core/access.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { RateStore } from '../core/ports/access.ts'
import { readSetting } from '../environment.ts'
import { accessControl, restrictParameters, type SuggestSlug, suggestion } from './access-control.ts'
import type { AuditRequests } from './audit-requests.ts'
import { compression } from './compression.ts'
import { readCorsOrigins, responseHeaders } from './cors.ts'
import {
  getBasePath,
  getHeader,
  type HttpResponse,
  isStreaming,
  type ServiceEvent,
  toProxyResult,
} from './event.ts'
import { assertFitsResult } from './invocation-size.ts'
import { jsonBody } from './json-body.ts'
import { encoding, pathParameters, queryParameters, requestHeaders } from './parameters.ts'
import { problemDetails } from './problem-details.ts'
import { requestLog } from './request-log.ts'

type Operations = typeof operations

/** The schemas that `routes.ts` names for an operation. */
type Schemas<Name extends OperationName> = {
  [Part in keyof Operations[Name] & ('query' | 'headers')]: Operations[Name][Part] extends ParametersName
    ? (typeof parameterSchemas)[Operations[Name][Part]]
    : never
}

type AnyOptions = {
  rates?: RateStore
  audit?: AuditRequests
  suggest?: SuggestSlug
  query?: z.ZodMiniObject
  headers?: z.ZodMiniObject
}

type Values<Name extends OperationName, Part extends 'query' | 'headers'> =
  Schemas<Name> extends Record<Part, infer Schema extends z.ZodMiniObject>
    ? z.output<Schema>
    : Record<never, never>

/**
 * What an operation needs beside its handler: its schemas; unless it is public, the counters of tokens; if it is
 * recorded, the audit log. `suggest`: for scopes that may list agents. Options: other functions do not load them.
 */
type Options<Name extends OperationName> = Schemas<Name> &
  (Operations[Name] extends { public: true } ? unknown : { rates: RateStore; suggest?: SuggestSlug }) &
  (Operations[Name] extends { audit: string } ? { audit: AuditRequests } : unknown)

/** A validated request. Path parameters are strings of any form. */
export type Request<Name extends OperationName = OperationName> = PathParameters & {
  requestId: string
  access: Access
  organizationId: string
  query: Values<Name, 'query'>
  headers: Values<Name, 'headers'>
  body: Operations[Name] extends { anyBody: true } ? Json : JsonObject
  /** The media types that the client accepts. */
  accept: string | undefined
  /** Prefix of the path of every link. */
  basePath: string
  /** The requested path, with the base path. */
  path: string
  /** Adds to the entry of the audit log, if the operation is recorded. */
  note: Note
  /** Stores the entry of an operation that starts something. */
  begin: Begin
  /** Aborts when the client hangs up. On Lambda, where that is not known, there is none. */
  signal: AbortSignal | undefined
  /** The request as it arrived, for a protocol of its own. */
  event: ServiceEvent
}

/**
 * The Lambda handler of an operation. It validates the request as `routes.ts` describes it and responds with JSON or
 * problem details. The schemas are passed in because a function that has no parameters should not load zod.
 */
export function endpoint<Name extends OperationName>(
  name: Name,
  handle: (request: Request<Name>) => Promise<HttpResponse>,
  ...[options]: keyof Options<Name> extends never ? [] : [options: Options<Name>]
) {
  const operation = getOperation(name)
  const { rates, audit, suggest, query, headers }: AnyOptions = options ?? {}
  const { audit: action } = operation
  if (action && !audit) throw new Error(`${name} is recorded, but has no audit log.`)
  const streams = operation.streams && readSetting('responseStreaming') === 'on'
  const handler = middy<ServiceEvent, APIGatewayProxyResult, Error, CallContext>(
    streams ? { executionMode: executionModeStreamifyResponse } : {},
  )
  if (operation.streams && isStreaming()) handler.use(compression())
  handler.use(responseHeaders(readCorsOrigins())).use(requestLog(name)).use(problemDetails(operation))
  handler.use(pathParameters())
  if (suggest) handler.use(suggestion(suggest))
  if (!operation.public) {
    if (!rates) throw new Error(`${name} requires a token, but has no store to count requests in.`)
    handler.use(accessControl(operation, rates))
  }
  handler.use(encoding())
  if (!operation.ignoresQuery) handler.use(queryParameters(query))
  if (!operation.public) handler.use(restrictParameters(query !== undefined && 'tenantId' in query.shape))
  if (headers) handler.use(requestHeaders(headers))
  if (operation.body && !operation.rawBody) handler.use(jsonBody(operation))
  return handler.handler(async (event, context) => {
    const request = toRequest<Name>(event, context)
    const response =
      action && audit
        ? await audit({ action, access: request.access, event }, (note, begin) =>
            handle({ ...request, note, begin }),
          )
        : await handle(request)
    event.executionMs = response.executionMs
    const result = toProxyResult(response)
    return operation.streams && isStreaming() ? result : assertFitsResult(result)
  })
}

/** The local gateway adds the signal. */
type CallContext = Context & { signal?: AbortSignal }

type Handler = (event: ServiceEvent, ...others: never[]) => Promise<unknown>

/**
 * The Lambda handler of a function that serves several operations: API Gateway names the path that it has matched. A
 * function streams all of its responses or none.
 */
export function family(handlers: Partial<Record<OperationName, Handler>>): Handler {
  const names = Object.keys(handlers) as OperationName[]
  const served = new Map<string, Handler | undefined>(
    routes.map(({ method, path, operation }) => [`${method} ${path}`, handlers[operation]]),
  )
  const handle: Handler = (event, ...others) => {
    const { resource, httpMethod } = event
    const handler = served.get(`${httpMethod === 'HEAD' ? 'GET' : httpMethod} ${resource}`)
    if (!handler) throw new Error(`No operation of this function has the route ${httpMethod} ${resource}.`)
    return handler(event, ...others)
  }
  const streaming = names.filter((name) => getOperation(name).streams)
  if (streaming.length === 0) return handle
  if (streaming.length < names.length)
    throw new Error(`${streaming[0]} streams, and other operations of its function do not.`)
  return readSetting('responseStreaming') === 'on' ? awslambda.streamifyResponse(handle) : handle
}

/** Defined by the Lambda runtime: marks a handler that is given a stream for its response. */
declare const awslambda: { streamifyResponse: (handler: Handler) => Handler }

function toRequest<Name extends OperationName>(event: ServiceEvent, context: CallContext): Request<Name> {
  return {
    ...NO_PARAMETERS,
    ...event.pathParameters,
    requestId: event.requestContext.requestId,
    access: event.access ?? ANONYMOUS,
    organizationId: event.access?.organizationId ?? '',
    query: event.query as Request<Name>['query'],
    headers: (event.validHeaders ?? {}) as Request<Name>['headers'],
    body: (event.json === undefined ? {} : event.json) as JsonObject,
    accept: getHeader(event, 'Accept'),
    basePath: getBasePath(event),
    path: event.requestContext.path ?? event.path,
    note: () => undefined,
    begin: async () => undefined,
    get signal() {
      return context.signal
    },
    event,
  }
}
