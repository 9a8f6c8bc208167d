import { MAX_SEARCHED } from '../core/limits.ts'
import type { Operation } from './operations/operation.ts'
import { parameterSchemas } from './parameters/parameters.ts'
import { type OperationName, operations } from './routes.ts'

type Header = { description: string; schema: { type: 'string' | 'integer'; format?: string } }

const TEXT = { type: 'string' } as const
const UUID = { type: 'string', format: 'uuid' } as const

/** Headers that clients read, as OpenAPI describes them. Those that any response can have are left out. */
export const HEADERS = {
  Link: {
    description: 'The next page of the list, with `rel="next"` (RFC 8288). Absent on the last page.',
    schema: TEXT,
  },
  'X-Searched-Executions': {
    description: `With a filter that no index has: how many executions were compared with it, ${MAX_SEARCHED.toLocaleString('en')} at most.`,
    schema: { type: 'integer' },
  },
  'X-Searched-Until': {
    description: 'With such a filter: when the oldest of these executions was created. Absent without any.',
    schema: { type: 'string', format: 'date-time' },
  },
  Location: { description: 'The URL of what the response is about.', schema: TEXT },
  'Retry-After': {
    description: 'Seconds until the next attempt, or until what is in progress should be read again.',
    schema: { type: 'integer' },
  },
  'Preference-Applied': {
    description: 'The part of `Prefer` that was honored, such as `wait=20` (RFC 7240).',
    schema: TEXT,
  },
  'X-Execution-Id': { description: 'The ID of the execution.', schema: UUID },
  'Cache-Status': {
    description: 'With `useCache`: whether the result was cached, or is now (RFC 9211).',
    schema: TEXT,
  },
  'X-Cached-Document-Execution-Id': {
    description: 'The execution whose cached result this is. Absent if the result was not cached.',
    schema: UUID,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate, or the scope that the token lacks (RFC 6750, RFC 9728).',
    schema: TEXT,
  },
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof HEADERS

/** Of a response to a run. */
const RUN: HeaderName[] = ['X-Execution-Id', 'Location', 'Cache-Status', 'X-Cached-Document-Execution-Id']

/** By status: of operations that start executions, and of those that create something else. */
const STARTED: Record<number, HeaderName[]> = { 200: RUN, 202: [...RUN, 'Retry-After'] }
const CREATED: Record<number, HeaderName[]> = { 201: ['Location'] }
const ACCEPTED: Record<number, HeaderName[]> = { 202: ['Location', 'Retry-After'] }
const READ_AGAIN: Record<number, HeaderName[]> = { 200: ['Retry-After'] }

const OF_OPERATIONS: Partial<Record<OperationName, Record<number, HeaderName[]>>> = {
  'run-agent': {
    ...STARTED,
    // Of executions that have failed, or take longer than the request.
    422: RUN,
    500: RUN,
    504: [...RUN, 'Retry-After'],
  },
  'rerun-execution': STARTED,
  'run-schedule': STARTED,
  'get-execution': { 200: ['Retry-After', 'Preference-Applied'] },
  'cancel-execution': READ_AGAIN,
  'give-feedback': READ_AGAIN,
  'start-batch': ACCEPTED,
  'retry-batch': ACCEPTED,
  'get-batch': READ_AGAIN,
  'start-trial': ACCEPTED,
  'get-trial': READ_AGAIN,
  'publish-agent': { 200: ['Location'], 201: ['Location'] },
  'create-webhook': CREATED,
  'put-schedule': CREATED,
}

const OF_ERRORS: Record<number, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Those that a response of an operation can have. */
export function responseHeaders(name: OperationName, status: number): HeaderName[] {
  const { query }: Operation = operations[name]
  const parameters = query ? parameterSchemas[query].shape : {}
  const names = new Set([
    ...(status === 200 && 'cursor' in parameters ? (['Link'] as const) : []),
    ...(status === 200 && 'errorText' in parameters
      ? (['X-Searched-Executions', 'X-Searched-Until'] as const)
      : []),
    ...(OF_OPERATIONS[name]?.[status] ?? []),
    ...(OF_ERRORS[status] ?? []),
  ])
  return [...names]
}
