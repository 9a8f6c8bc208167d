import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { useAgents } from '../api/agents.ts'
import { type Query, toHref } from '../state/location.ts'
import { parseRange } from './range.ts'

export type Suggestion = [value: string, name: string]

/** A filter of a list, in the query of its page. @typeParam T what is listed: its values can be suggested */
export type Filter<T = never> = {
  label: string
  /** Names of the values that can be chosen. Absent: a text. */
  choices?: Record<string, string>
  /** One is always chosen, with a button beside the title of the page: this one at first. */
  default?: string
  /** A period, or a range of times: also the members `from` and `to` of the query. */
  isTime?: boolean
  /** Filters with each key what is loaded already. Other texts filter when the field is left: each is a request. */
  isSearch?: boolean
  /** Spaces at the ends of the text count. */
  isExact?: boolean
  /** Shown on request, or if it is used. */
  isMore?: boolean
  /** Absent for tokens that are bound to a tenant. */
  isOfTenants?: boolean
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

export const TIME_FILTER = { period: { label: 'Time', isTime: true } }

/** Unknown values, which an edited URL may contain, filter nothing. */
export function parseFilters<Name extends string>(
  filters: Record<Name, Filter<never>>,
  query: URLSearchParams,
): Values<Name> {
  const parsed = Object.entries<Filter<never>>(filters).map(([name, filter]): Query => {
    const { choices, isTime, isSearch, isExact, maxLength } = filter
    const given = query.get(name) ?? ''
    if (isTime) return parseRange(query)
    if (!choices) return { [name]: (isExact || isSearch ? given : given.trim()).slice(0, maxLength) }
    return { [name]: Object.hasOwn(choices, given) ? given : (filter.default ?? '') }
  })
  return Object.assign({}, ...parsed)
}

/** The address of a page with filters. The default view is left out, and the times that a period makes useless. */
export function hrefOf(path: string, filters: Filters<never>, values: Values): string {
  const given = Object.entries(values).filter(([name, value]) => value !== filters[name]?.default)
  const range = values.period && filters.period?.isTime ? { from: '', to: '' } : {}
  return toHref(path, { ...Object.fromEntries(given), ...range })
}

/** Whether the filters leave anything out. A view is none of them. */
export const isFiltered = (filters: Filters<never>, values: Values): boolean =>
  Object.entries(values).some(([name, value]) => value !== '' && filters[name]?.default === undefined)
