import { MAX_FILTER } from '../../lib/core/limits.ts'
import {
  AGENT_FILTER,
  firstOf,
  parseFilters as parse,
  type Suggestion,
  TENANT_FILTER,
  TIME_FILTER,
  type Values,
} from '../components/filters.ts'
import { toApiRange, toIso } from '../components/range.ts'
import { STATUS_LABELS } from '../components/values.tsx'
import type { Run } from './run-list.ts'

const MAX_RUNS = 500

const suggest = (read: (run: Run) => string | null | undefined) => ({
  useSuggestions: (runs: Run[]): Suggestion[] =>
    firstOf(runs.slice(0, MAX_RUNS).flatMap((run) => (read(run) ? [[read(run) ?? '', '']] : []))),
})

/** As filters: a `*` at the end would be a prefix. */
const toKeyTexts = (keys: Run['keys'] = {}): string[] =>
  Object.entries(keys).map(([name, value]) => `${name}:${value.replace(/\*$/, '\\*')}`)

const SOURCES = {
  API: 'API request',
  AGENT: 'Another agent',
  BATCH: 'Batch',
  SCHEDULE: 'Schedule',
  TRIAL: 'Trial or rerun from a recording',
  SCORE: 'Score of another run',
}

/** What no index of the service has: it looks at a few thousand runs at a time. */
const SEARCH = {
  errorCode: {
    ...{ label: 'Error code', isMore: true, maxLength: MAX_FILTER.errorCode },
    ...suggest(({ error }) => error?.code),
  },
  /** In the code or the message of the error. */
  errorText: { label: 'Text in the error', isMore: true, maxLength: MAX_FILTER.errorText },
  version: {
    ...{ label: 'Version', isMore: true, placeholder: 'ID', maxLength: 36 },
    ...suggest(({ versionId }) => versionId),
  },
  source: { label: 'Source', isMore: true, choices: SOURCES },
  model: {
    ...{ label: 'Model', isMore: true, maxLength: MAX_FILTER.model },
    ...suggest(({ model }) => model),
  },
  /** As charts count runs. */
  finishedFrom: { label: 'Ended from', type: 'datetime-local', isMore: true },
  finishedTo: { label: 'Ended before', type: 'datetime-local', isMore: true },
} as const

export const FILTERS = {
  status: { label: 'Status', choices: STATUS_LABELS },
  ...AGENT_FILTER,
  tenantId: { ...TENANT_FILTER.tenantId, ...suggest(({ tenantId }) => tenantId) },
  /** The keys that agents declare, by which an index finds runs. */
  key: {
    ...{ label: 'Key', placeholder: 'orderId:O-13*', maxLength: MAX_FILTER.key },
    useSuggestions: (runs: Run[]): Suggestion[] =>
      firstOf(
        runs.slice(0, MAX_RUNS).flatMap(({ keys }) => toKeyTexts(keys).map((text): Suggestion => [text, ''])),
      ),
  },
  ...TIME_FILTER,
  ...SEARCH,
}

/** Kept in the URL; empty texts filter nothing. */
export type Filters = Values<keyof typeof FILTERS>

const searchOf = ({ errorCode, errorText, version, source, model, finishedFrom, finishedTo }: Filters) => ({
  ...{ errorCode, errorText, version, source, model },
  ...{ finishedFrom: toIso(finishedFrom), finishedTo: toIso(finishedTo) },
})

export const isSearch = (filters: Filters): boolean =>
  Object.values(searchOf(filters)).some((value) => value !== '')

/** Filters that exclude each other: the one that was changed last counts. */
export function changeFilters(filters: Filters, change: Partial<Filters>): Filters {
  const next = { ...filters, ...change }
  if (change.errorCode || change.errorText) return { ...next, status: 'ERROR' }
  const hasErrors = next.status === '' || next.status === 'ERROR'
  return hasErrors ? next : { ...next, errorCode: '', errorText: '' }
}

export function parseFilters(query: URLSearchParams): Filters {
  const filters = parse(FILTERS, query)
  // Only these have an error.
  return filters.errorCode || filters.errorText ? { ...filters, status: 'ERROR' } : filters
}

export const NO_FILTERS: Filters = parseFilters(new URLSearchParams())

/** `query`: values that are empty are left out. */
type ApiRequest = { path: string; query: Partial<Record<string, string>> }

/** As a path and a query of the API. @param now milliseconds since the epoch, where a period ends */
export function toApiRequest(filters: Filters, now: number): ApiRequest {
  const { status, agent, tenantId, key } = filters
  const path = agent ? `/v1/agents/${encodeURIComponent(agent)}/executions` : '/v1/agent_executions'
  const range = toApiRange(filters, now)
  return { path, query: { status, tenantId, key, ...range, ...searchOf(filters), fields: 'summary' } }
}
