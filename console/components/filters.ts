import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { useAgents } from '../api/agents.ts'
import { toHref } from '../state/location.ts'
import { CUSTOM, parseLocalTime } from './range.ts'

export type Suggestion = [value: string, name: string]

/** A filter of a list, in the query of its page. @typeParam T what is listed: its values can be suggested */
export type Filter<T = never> = {
  label: string
  /** Names of the values that can be chosen. Absent: a text. */
  choices?: Record<string, string>
  /** What the choice says if nothing is chosen. */
  any?: string
  /** One is always chosen, with a button beside the title of the page: this one at first. */
  default?: string
  /** `search` filters with each key what is loaded already; others when the field is left: each is a request. */
  type?: 'text' | 'search' | 'datetime-local'
  /** Spaces at the ends of the text count. */
  isExact?: boolean
  /** Shown on request, or if it is used. */
  isMore?: boolean
  /** Absent for tokens that are bound to a tenant. */
  isOfTenants?: boolean
  /** One end of a range, which is shown if the period is that of a range. */
  isEnd?: boolean
  placeholder?: string
  maxLength?: number
  useSuggestions?: (items: T[]) => Iterable<Suggestion>
}

export type Filters<T = never> = Record<string, Filter<T>>

export type Values<Name extends string = string> = Record<Name, string>

const MAX_SUGGESTIONS = 30

/** The first values, each once. */
export const firstOf = (values: Iterable<Suggestion>): Suggestion[] =>
  [...new Map(values)].slice(0, MAX_SUGGESTIONS)

export const useAgentSuggestions = (): Suggestion[] =>
  [...(useAgents()?.values() ?? [])].map(({ slug, title }) => [slug, title])

export const AGENT_FILTER = {
  agent: { label: 'Agent', placeholder: 'Slug or ID', useSuggestions: useAgentSuggestions },
}

export const TENANT_FILTER = {
  tenantId: { label: 'Tenant', maxLength: MAX_TENANT_ID, isExact: true, isOfTenants: true },
}

const PERIOD_CHOICES = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  [CUSTOM]: 'From – to',
}

/** A period that ends now, or a range of times. */
export const TIME_FILTER = {
  period: { label: 'Time', any: 'Any time', choices: PERIOD_CHOICES },
  from: { label: 'From', type: 'datetime-local', isEnd: true },
  to: { label: 'To', type: 'datetime-local', isEnd: true },
} as const

/** Unknown values, which an edited URL may contain, filter nothing. */
export function parseFilters<Name extends string>(
  filters: Record<Name, Filter<never>>,
  query: URLSearchParams,
): Values<Name> {
  const parsed = Object.entries<Filter<never>>(filters).map(([name, filter]) => {
    const { choices, type, isExact, maxLength } = filter
    const given = query.get(name) ?? ''
    if (choices) return [name, Object.hasOwn(choices, given) ? given : (filter.default ?? '')]
    if (type === 'datetime-local') return [name, parseLocalTime(given)]
    return [name, (isExact || type === 'search' ? given : given.trim()).slice(0, maxLength)]
  })
  const values: Values = Object.fromEntries(parsed)
  const isRange = values.period === '' && (values.from || values.to)
  return isRange ? Object.assign(values, { period: CUSTOM }) : values
}

/** The address of a page with filters. The default view is left out, and the ends of what is no range. */
export function hrefOf(path: string, filters: Filters<never>, values: Values): string {
  const isGiven = (name: string) =>
    values[name] !== filters[name]?.default && !(filters[name]?.isEnd && values.period !== CUSTOM)
  return toHref(path, Object.fromEntries(Object.entries(values).filter(([name]) => isGiven(name))))
}

/** Whether the filters leave anything out. A view is none of them. */
export const isFiltered = (filters: Filters<never>, values: Values): boolean =>
  Object.entries(values).some(([name, value]) => value !== '' && filters[name]?.default === undefined)
