import type { ProblemCode } from '../core/errors.ts'
import type { parameterSchemas } from './parameters/parameter-schemas.ts'
import type { RecordName } from './schemas/records.ts'

/**
 * The one source of the HTTP contract. The stack, the local gateway, validation and OpenAPI all read it: a new endpoint
 * is one row here and one file in `functions/`. Every function loads it, so it holds no schema of a record, but the name of one in `records.ts`.
 */
export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  summary: string
  /** The schema in `parameters/parameter-schemas.ts`. Without one, every query parameter is rejected. */
  query?: ParametersName
  /** Headers that it heeds beyond those of every request. */
  headers?: ParametersName
  /** Answers without a token. */
  public?: true
  /** Takes a JSON object as body. */
  body?: RecordName
  /** By status: the body, or null for none. */
  responses: Record<number, { description: string; body: Body | null }>
  /** Beyond those that every operation has. */
  errors: ProblemCode[]
  /** Its response may pass the 6 MB that Lambda buffers, so it is streamed. */
  streams?: true
}

/** The name of a schema in `parameters/parameter-schemas.ts`. */
export type ParametersName = keyof typeof parameterSchemas

/** A record, or a list of them. */
export type Body = RecordName | readonly [RecordName]

const aList = (of: string, record: RecordName) => ({
  200: { description: `${of}, newest first`, body: [record] as const },
})
const oneExecution = { 200: { description: 'The execution', body: 'Execution' } } as const

/** Operations by the name of the function that serves them. */
export const operations = {
  'check-health': {
    method: 'GET',
    path: '/v1/healthcheck',
    summary: 'Tells whether the service is reachable and working',
    public: true,
    responses: { 200: { description: 'It works', body: 'Health' } },
    errors: ['Unavailable'],
  },
  'list-agents': {
    method: 'GET',
    path: '/v1/agents',
    summary: 'Lists the agents of the organization',
    query: 'pageParameters',
    responses: aList('Agents', 'Agent'),
    errors: [],
  },
  'get-agent': {
    method: 'GET',
    path: '/v1/agents/{agentId}',
    summary: 'Reads an agent',
    responses: { 200: { description: 'The agent', body: 'Agent' } },
    errors: ['AgentNotFound'],
  },
  'list-versions': {
    method: 'GET',
    path: '/v1/agents/{agentId}/versions',
    summary: 'Lists the versions of an agent',
    query: 'pageParameters',
    responses: aList('Versions', 'Version'),
    errors: ['AgentNotFound'],
  },
  'run-agent': {
    method: 'POST',
    path: '/v1/agents/{agentId}/executions',
    summary: 'Runs an agent',
    query: 'runParameters',
    headers: 'runHeaders',
    body: 'Input',
    responses: {
      200: { description: 'The output (sync)', body: 'Output' },
      202: { description: 'The execution, to be polled (async)', body: 'Execution' },
    },
    errors: [
      'InvalidHeader',
      'InvalidJson',
      'InvalidModelOverride',
      'AgentNotFound',
      'VersionNotFound',
      'ExecutionInProgress',
      'PayloadTooLarge',
      'UnsupportedMediaType',
      'InputSchemaMismatch',
      'IdempotencyKeyReused',
      'ExecutionFailed',
      'ExecutionStillRunning',
    ],
    streams: true,
  },
  'list-agent-executions': {
    method: 'GET',
    path: '/v1/agents/{agentId}/executions',
    summary: 'Lists the executions of an agent',
    query: 'executionPageParameters',
    responses: aList('Executions', 'Execution'),
    errors: ['AgentNotFound'],
    streams: true,
  },
  'list-executions': {
    method: 'GET',
    path: '/v1/agent_executions',
    summary: 'Lists the executions of all agents of the organization',
    query: 'executionPageParameters',
    responses: aList('Executions', 'Execution'),
    errors: [],
    streams: true,
  },
  'get-execution': {
    method: 'GET',
    path: '/v1/agent_executions/{executionId}',
    summary: 'Reads an execution, at once or when it has ended',
    headers: 'waitHeaders',
    responses: oneExecution,
    errors: ['ExecutionNotFound'],
    streams: true,
  },
  'list-steps': {
    method: 'GET',
    path: '/v1/agent_executions/{executionId}/steps',
    summary: 'Lists what happened in an execution, step by step',
    query: 'pageParameters',
    responses: { 200: { description: 'Steps, in their order', body: ['Step'] } },
    errors: ['ExecutionNotFound'],
    streams: true,
  },
  'delete-execution': {
    method: 'DELETE',
    path: '/v1/agent_executions/{executionId}',
    summary: 'Deletes an execution with all that belongs to it',
    responses: { 204: { description: 'It is gone', body: null } },
    errors: ['ExecutionNotFound', 'ExecutionInProgress'],
  },
  'cancel-execution': {
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/cancel',
    summary: 'Ends an execution that is in progress; one that has ended stays as it is',
    responses: oneExecution,
    errors: ['ExecutionNotFound'],
    streams: true,
  },
  'give-feedback': {
    method: 'PUT',
    path: '/v1/agent_executions/{executionId}/feedback',
    summary: 'Says how good the result of an execution is, and what it should have been',
    body: 'FeedbackBody',
    responses: oneExecution,
    errors: [
      'InvalidJson',
      'ExecutionNotFound',
      'VersionNotFound',
      'ExecutionInProgress',
      'PayloadTooLarge',
      'UnsupportedMediaType',
      'FeedbackMismatch',
    ],
    streams: true,
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

export type Route = { function: OperationName; method: Operation['method']; path: string; legacy: boolean }

const ownRoutes: Route[] = Object.entries(operations).map(([name, { method, path }]) => ({
  function: name as OperationName,
  method,
  path,
  legacy: false,
}))

/** The older name of an agent is document: each route of agents and executions has a mirror under it. */
const legacyRoutes: Route[] = ownRoutes
  .filter(({ path }) => path.startsWith('/v1/agent'))
  .map((route) => ({ ...route, path: route.path.replace('/v1/agent', '/v1/document'), legacy: true }))

/** Every route. Each path works with and without a trailing slash. */
export const routes: Route[] = [...ownRoutes, ...legacyRoutes]

/** What `operations` says of a function, without the literal types. */
export const operationOf = (name: OperationName): Operation => operations[name]
