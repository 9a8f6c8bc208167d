import type { Query } from '../state/location.ts'

export const STATUSES = ['IN_PROGRESS', 'SUCCESS', 'ERROR'] as const

/** Periods that end now, in milliseconds. */
export const PERIODS = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const
export type Period = keyof typeof PERIODS

/** Which runs a list shows. Kept in the URL; empty texts filter nothing. */
export type Filters = {
  status: (typeof STATUSES)[number] | ''
  /** ID or slug. */
  agent: string
  tenantId: string
  period: Period | ''
  /** Local date and time, as in `<input type="datetime-local">`; ignored with a period. */
  from: string
  to: string
}

/** Unknown values, which an edited URL may contain, filter nothing. */
export function parseFilters(query: URLSearchParams): Filters {
  const get = (name: string) => query.get(name) ?? ''
  const [status, period] = [get('status'), get('period')]
  return {
    status: STATUSES.find((each) => each === status) ?? '',
    agent: get('agent').trim(),
    tenantId: get('tenantId'),
    period: Object.hasOwn(PERIODS, period) ? (period as Period) : '',
    from: isLocalTime(get('from')) ? get('from') : '',
    to: isLocalTime(get('to')) ? get('to') : '',
  }
}

/** As the query of the page. */
export const toPageQuery = (filters: Filters): Query => ({
  ...filters,
  ...(filters.period && { from: '', to: '' }),
})

/** As a path and a query of the API. @param now milliseconds since the epoch, where a period ends */
export function toApiRequest(filters: Filters, now: number): { path: string; query: Query } {
  const { status, agent, tenantId, period, from, to } = filters
  const path = agent ? `/v1/agents/${encodeURIComponent(agent)}/executions` : '/v1/agent_executions'
  const range = period
    ? { from: new Date(now - PERIODS[period]).toISOString() }
    : { from: toIso(from), to: toIso(to) }
  return { path, query: { status, tenantId, ...range, fields: 'summary' } }
}

export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((value) => value !== '')

const isLocalTime = (text: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) && !Number.isNaN(Date.parse(text))

const toIso = (text: string) => (text === '' ? '' : new Date(text).toISOString())

/** A time as in `<input type="datetime-local">`. @param time milliseconds since the epoch */
export function toLocalText(time: number): string {
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}
