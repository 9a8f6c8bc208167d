import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import type { Scope } from '../core/access.ts'
import { ERRORS } from '../core/errors.ts'
import type { Operation } from './operations/operation.ts'
import { parameterSchemas } from './parameters/parameters.ts'
import type { PathParameters } from './parameters/path-parameters.ts'
import { PATH_PARAMETERS } from './parameters/path-parameters.ts'
import { sentEvent } from './records/execution.ts'
import { fileInput, getSchema, problemRecord } from './records/records.ts'
import { HEADERS, responseHeaders } from './response-headers.ts'
import { apiRoutes, getOperation, type Route } from './routes.ts'

const LINES_TYPE = 'application/x-ndjson'

/** Errors of every operation. Those that require a token can also respond with `Unauthorized` and `Forbidden`. */
const COMMON_ERRORS = ['InvalidQueryParameter', 'TooManyRequests', 'InternalError', 'Unavailable'] as const

/** The OpenAPI 3.1 document of the service, generated from `routes.ts`. */
export function openApiDocument(): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {}
  for (const route of apiRoutes) {
    const operation = toOperation(route, getOperation(route.operation))
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Agent Execution Service',
      version: '1.0.0',
      description: 'Runs agents behind typed HTTPS endpoints. Every path also works with a trailing slash.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:3000', description: 'Local service (npm start)' }],
    security: [{ token: [] }],
    tags: [
      { name: 'agents', description: 'Agents, their versions and their executions.' },
      { name: 'documents', description: 'The same operations under the legacy name of agents.' },
      { name: 'service', description: 'Operations on the service itself.' },
    ],
    components: {
      schemas: { FileInput: fileInput },
      headers: HEADERS,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token.' } },
    },
    paths,
  })
}

function toOperation(route: Route, operation: Operation): ZodOpenApiOperationObject {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof PathParameters)
  return {
    operationId: route.legacy ? `legacy-${route.operation}` : route.operation,
    summary: operation.summary,
    ...(!operation.public && { description: describeToken(operation.scope, operation.allTenants) }),
    tags: [tagOf(route)],
    ...(route.legacy && { deprecated: true }),
    ...(operation.public && { security: [] }),
    requestParams: {
      ...(names.length > 0 && {
        path: z.object(Object.fromEntries(names.map((name) => [name, toPathSchema(name)]))),
      }),
      ...(operation.query && { query: parameterSchemas[operation.query] }),
      ...(operation.headers && { header: parameterSchemas[operation.headers] }),
    },
    ...(operation.body && {
      requestBody: {
        required: !operation.optionalBody,
        content: {
          'application/json': { schema: getSchema(operation.body) },
          ...(operation.bodyLines && { [LINES_TYPE]: { schema: z.string() } }),
        },
      },
    }),
    responses: withHeaders(
      route.operation,
      mergeResponses(toResponses(operation), toErrorResponses(operation)),
    ),
  } as ZodOpenApiOperationObject
}

function toPathSchema(name: keyof PathParameters): z.ZodType {
  const { description, form }: (typeof PATH_PARAMETERS)[typeof name] & { form?: 'uuid' | RegExp } =
    PATH_PARAMETERS[name]
  const schema = form === 'uuid' ? z.uuid() : form ? z.string().regex(form) : z.string()
  return schema.meta({ description })
}

function tagOf({ path, legacy }: Route): string {
  if (legacy) return 'documents'
  return path.startsWith('/v1/agent') ? 'agents' : 'service'
}

function describeToken(scope: Scope | Scope[] | 'any', allTenants = false): string {
  if (scope === 'any') return 'Each tool needs a token with its scope.'
  const scopes = [scope].flat().map((name) => `\`${name}\``)
  return `Needs a token with the scope ${scopes.join(' or ')}${allTenants ? ' that is not bound to a tenant' : ''}.`
}

function toResponses({ responses }: Operation) {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, body, events, lines, csv }]) => {
      const content = {
        ...(body && { [lines ? LINES_TYPE : 'application/json']: { schema: getSchema(body) } }),
        ...(events && { 'text/event-stream': { schema: sentEvent } }),
        ...(csv && { 'text/csv': { schema: z.string() } }),
      }
      return [status, { description, ...(Object.keys(content).length > 0 && { content }) }]
    }),
  )
}

type Responses = Record<string, { description: string; content?: object }>

/** A status can have a body of the operation's own besides problem details. */
function mergeResponses(responses: Responses, errors: Responses): Responses {
  const merged = Object.entries(errors).map(([status, error]) => {
    const own = responses[status]
    if (!own) return [status, error]
    const description = `${own.description}; ${error.description}`
    return [status, { description, content: { ...own.content, ...error.content } }]
  })
  return { ...responses, ...Object.fromEntries(merged) }
}

const withHeaders = (name: Route['operation'], responses: Responses) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const headers = responseHeaders(name, Number(status)).map((header) => [
        header,
        { $ref: `#/components/headers/${header}` },
      ])
      return [status, headers.length > 0 ? { ...response, headers: Object.fromEntries(headers) } : response]
    }),
  )

/** One response per status. Its description lists the error codes. */
function toErrorResponses(operation: Operation) {
  const errors: NonNullable<Operation['errors']> = [
    ...(operation.public ? [] : (['Unauthorized', 'Forbidden'] as const)),
    ...COMMON_ERRORS,
    ...(operation.errors ?? []),
  ]
  const statuses = errors.map((error) =>
    typeof error === 'string' ? { code: error, status: ERRORS[error].status } : error,
  )
  const byStatus = Map.groupBy(statuses, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, sameStatus]) => [
      status,
      {
        description: [...new Set(sameStatus.map(({ code }) => code))].join(', '),
        content: { 'application/problem+json': { schema: problemRecord } },
      },
    ]),
  )
}
