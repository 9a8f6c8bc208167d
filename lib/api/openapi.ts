import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { PROBLEMS, type ProblemCode } from '../core/errors.ts'
import { parameterSchemas } from './parameters/parameter-schemas.ts'
import { type Operation, operationOf, type Route, routes } from './routes.ts'
import { problemRecord } from './schemas/problem-record.ts'
import { schemaOf } from './schemas/records.ts'

const PATH_PARAMETERS: Record<string, z.ZodType> = {
  agentId: z.string().meta({ description: 'The id (UUID) or slug of an agent.' }),
  executionId: z.uuid().meta({ description: 'The id of an execution.' }),
}

/** Problems that every operation can answer with; those that take a token, also 401. */
const COMMON: ProblemCode[] = ['InvalidQueryParameter', 'TooManyRequests', 'InternalError', 'Unavailable']

/** The OpenAPI 3.1 document of the service, made from `routes.ts`. */
export function openApiDocument() {
  const paths: ZodOpenApiPathsObject = {}
  for (const route of routes) {
    const { method } = route
    paths[route.path] = {
      ...paths[route.path],
      [method.toLowerCase()]: toOperation(route, operationOf(route.function)),
    }
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Agent Execution Service',
      version: '1.0.0',
      description: 'Runs agents behind typed HTTPS endpoints. Every path also works with a slash at its end.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:3000', description: 'This machine (npm start)' }],
    security: [{ token: [] }],
    tags: [
      { name: 'agents', description: 'Agents, their versions and their executions.' },
      { name: 'documents', description: 'The same under the older name of an agent.' },
      { name: 'service', description: 'The service itself.' },
    ],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token.' } },
    },
    paths,
  })
}

function toOperation(route: Route, operation: Operation): ZodOpenApiOperationObject {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  return {
    operationId: route.legacy ? `legacy-${route.function}` : route.function,
    summary: operation.summary,
    tags: [operation.public ? 'service' : route.legacy ? 'documents' : 'agents'],
    ...(route.legacy && { deprecated: true }),
    ...(operation.public && { security: [] }),
    requestParams: {
      ...(names.length > 0 && {
        path: z.object(Object.fromEntries(names.map((name) => [name, PATH_PARAMETERS[name]]))),
      }),
      ...(operation.query && { query: parameterSchemas[operation.query] }),
      ...(operation.headers && { header: parameterSchemas[operation.headers] }),
    },
    ...(operation.body && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(operation.body) } } },
    }),
    responses: { ...responsesOf(operation), ...errorsOf(operation) },
  } as ZodOpenApiOperationObject
}

function responsesOf({ responses }: Operation) {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, body }]) => [
      status,
      { description, ...(body && { content: { 'application/json': { schema: schemaOf(body) } } }) },
    ]),
  )
}

/** One response for each status, which names the codes that come with it. */
function errorsOf(operation: Operation) {
  const codes: ProblemCode[] = [
    ...(operation.public ? [] : (['Unauthorized'] as const)),
    ...COMMON,
    ...operation.errors,
  ]
  const byStatus = Map.groupBy(new Set(codes), (code) => PROBLEMS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => [
      status,
      { description: sharing.join(', '), content: { 'application/problem+json': { schema: problemRecord } } },
    ]),
  )
}
