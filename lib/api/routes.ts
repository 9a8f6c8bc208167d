import * as z from 'zod'
import type { ProblemCode } from '../core/errors.ts'
import { agentRecord, versionRecord } from './agent-record.ts'
import { executionRecord } from './execution-record.ts'
import { feedbackBody } from './feedback.ts'
import { runHeaders, waitHeaders } from './headers.ts'
import { executionPageParameters, noParameters, pageParameters, runParameters } from './parameters.ts'
import { stepRecord } from './step-record.ts'

/**
 * The one source of the HTTP contract. The stack, the local gateway, validation and OpenAPI all read it: a new endpoint
 * is one row here and one file in `functions/`.
 */
export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  summary: string
  query: z.ZodType
  /** Headers that it heeds beyond those of every request. */
  headers?: z.ZodObject
  /** Answers without a token. */
  open?: true
  /** Takes a JSON object as body. */
  body?: z.ZodType
  /** By status: the body's schema, or null for none. */
  answers: Record<number, { description: string; body: z.ZodType | null }>
  /** Beyond those that every operation has. */
  problems: ProblemCode[]
  /** Its response may pass the 6 MB that Lambda buffers, so it is streamed. */
  streams?: true
}

const jsonObject = z.record(z.string(), z.unknown())
const aList = (of: string, record: z.ZodType) => ({
  200: { description: `${of}, newest first`, body: z.array(record) },
})
const oneExecution = { 200: { description: 'The execution', body: executionRecord } }

/** Operations by the name of the function that serves them. */
export const operations = {
  'check-health': {
    method: 'GET',
    path: '/v1/healthcheck',
    summary: 'Tells whether the service is reachable and working',
    query: noParameters,
    open: true,
    answers: { 200: { description: 'It works', body: z.object({ success: z.boolean() }) } },
    problems: ['Unavailable'],
  },
  'list-agents': {
    method: 'GET',
    path: '/v1/agents',
    summary: 'Lists the agents of the organization',
    query: pageParameters,
    answers: aList('Agents', agentRecord),
    problems: [],
  },
  'get-agent': {
    method: 'GET',
    path: '/v1/agents/{agentId}',
    summary: 'Reads an agent',
    query: noParameters,
    answers: { 200: { description: 'The agent', body: agentRecord } },
    problems: ['AgentNotFound'],
  },
  'list-versions': {
    method: 'GET',
    path: '/v1/agents/{agentId}/versions',
    summary: 'Lists the versions of an agent',
    query: pageParameters,
    answers: aList('Versions', versionRecord),
    problems: ['AgentNotFound'],
  },
  'run-agent': {
    method: 'POST',
    path: '/v1/agents/{agentId}/executions',
    summary: 'Runs an agent',
    query: runParameters,
    headers: runHeaders,
    body: jsonObject,
    answers: {
      200: { description: 'The output (sync)', body: jsonObject },
      202: { description: 'The execution, to be polled (async)', body: executionRecord },
    },
    problems: [
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
    query: executionPageParameters,
    answers: aList('Executions', executionRecord),
    problems: ['AgentNotFound'],
    streams: true,
  },
  'list-executions': {
    method: 'GET',
    path: '/v1/agent_executions',
    summary: 'Lists the executions of all agents of the organization',
    query: executionPageParameters,
    answers: aList('Executions', executionRecord),
    problems: [],
    streams: true,
  },
  'get-execution': {
    method: 'GET',
    path: '/v1/agent_executions/{executionId}',
    summary: 'Reads an execution, at once or when it has ended',
    query: noParameters,
    headers: waitHeaders,
    answers: oneExecution,
    problems: ['ExecutionNotFound'],
    streams: true,
  },
  'list-steps': {
    method: 'GET',
    path: '/v1/agent_executions/{executionId}/steps',
    summary: 'Lists what happened in an execution, step by step',
    query: pageParameters,
    answers: { 200: { description: 'Steps, in their order', body: z.array(stepRecord) } },
    problems: ['ExecutionNotFound'],
    streams: true,
  },
  'delete-execution': {
    method: 'DELETE',
    path: '/v1/agent_executions/{executionId}',
    summary: 'Deletes an execution with all that belongs to it',
    query: noParameters,
    answers: { 204: { description: 'It is gone', body: null } },
    problems: ['ExecutionNotFound', 'ExecutionInProgress'],
  },
  'cancel-execution': {
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/cancel',
    summary: 'Ends an execution that is in progress; one that has ended stays as it is',
    query: noParameters,
    answers: oneExecution,
    problems: ['ExecutionNotFound'],
    streams: true,
  },
  'give-feedback': {
    method: 'PUT',
    path: '/v1/agent_executions/{executionId}/feedback',
    summary: 'Says how good the result of an execution is, and what it should have been',
    query: noParameters,
    body: feedbackBody,
    answers: oneExecution,
    problems: [
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
