import { MAX_FILTER } from '../../lib/core/limits.ts'
import { parseRange, type Range, toApiRange } from '../components/range.ts'
import type { Query } from '../state/location.ts'

export const STATUSES = ['IN_PROGRESS', 'SUCCESS', 'ERROR'] as const

export const SOURCES = ['API', 'AGENT', 'BATCH', 'SCHEDULE', 'TRIAL'] as const

/** Which runs a list shows. Kept in the URL; empty texts filter nothing. */
export type Filters = {
  status: (typeof STATUSES)[number] | ''
  /** ID or slug. */
  agent: string
  tenantId: string
} & Range &
  Search

/** What no index of the service has: it looks at a few thousand runs at a time. */
export type Search = {
  errorCode: string
  /** In the code or the message of the error. */
  errorText: string
  /** ID */
  version: string
  source: (typeof SOURCES)[number] | ''
  model: string
}

/** The most that the API accepts. */
export const MAX_LENGTHS = { ...MAX_FILTER, version: 36 } as const

const NO_SEARCH: Search = { errorCode: '', errorText: '', version: '', source: '', model: '' }

export const NO_FILTERS: Filters = {
  ...{ status: '', agent: '', tenantId: '', period: '', from: '', to: '' },
  ...NO_SEARCH,
}

const searchOf = ({ errorCode, errorText, version, source, model }: Filters): Search => ({
  ...{ errorCode, errorText, version, source, model },
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

/** Unknown values, which an edited URL may contain, filter nothing. */
export function parseFilters(query: URLSearchParams): Filters {
  const get = (name: string) => query.get(name) ?? ''
  const text = (name: keyof typeof MAX_LENGTHS) => get(name).trim().slice(0, MAX_LENGTHS[name])
  const [status, source] = [get('status'), get('source')]
  const [errorCode, errorText] = [text('errorCode'), text('errorText')]
  return {
    // Only these have an error.
    status: errorCode || errorText ? 'ERROR' : (STATUSES.find((each) => each === status) ?? ''),
    agent: get('agent').trim(),
    tenantId: get('tenantId'),
    ...parseRange(query),
    ...{ errorCode, errorText },
    version: text('version'),
    source: SOURCES.find((each) => each === source) ?? '',
    model: text('model'),
  }
}

/** As the query of the page. */
export const toPageQuery = (filters: Filters): Query => ({
  ...filters,
  ...(filters.period && { from: '', to: '' }),
})

/** `query`: values that are empty are left out. */
type ApiRequest = { path: string; query: Partial<Record<string, string>> }

/** As a path and a query of the API. @param now milliseconds since the epoch, where a period ends */
export function toApiRequest(filters: Filters, now: number): ApiRequest {
  const { status, agent, tenantId } = filters
  const path = agent ? `/v1/agents/${encodeURIComponent(agent)}/executions` : '/v1/agent_executions'
  const range = toApiRange(filters, now)
  return { path, query: { status, tenantId, ...range, ...searchOf(filters), fields: 'summary' } }
}

export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((value) => value !== '')
