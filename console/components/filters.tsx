import './filters.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { useAgents } from '../api/agents.ts'
import { type Query, toHref } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { PERIOD_NAMES, PERIODS, parseRange } from './range.ts'
import { toVisible } from './visible-text.tsx'

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

const useAgentSuggestions = (): Suggestion[] =>
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

type BarProps<T> = {
  filters: Filters<T>
  values: Values
  /** What is listed. */
  items: T[]
  onChange: (change: Partial<Values>) => void
}

/** The fields of the filters of a list. */
export function FilterBar<T>({ filters, values, items, onChange }: BarProps<T>) {
  const id = useId()
  const isBound = useMe()?.tenantId != null
  const [showsMore, setShowsMore] = useState<boolean | null>(null)
  /** Fields begin afresh. */
  const [clears, setClears] = useState(0)
  const fields = Object.entries(filters).filter(
    ([, { default: view, isOfTenants }]) => view === undefined && !(isOfTenants && isBound),
  )
  const more = fields.filter(([, { isMore }]) => isMore)
  const isOpen = showsMore ?? more.some(([name]) => values[name] !== '')
  const toField = ([name, filter]: [string, Filter<T>]) => (
    <Field key={`${name} ${clears}`} {...{ name, filter, values, items, onChange }} />
  )
  return (
    <search class="filters">
      {fields.filter(([, { isMore }]) => !isMore).map(toField)}
      {more.length > 0 && (
        <div>
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setShowsMore(!isOpen)}
          >
            {isOpen ? 'Fewer filters' : 'More filters'}
          </button>
        </div>
      )}
      {isFiltered(filters, values) && !fields.every(([, { isSearch }]) => isSearch) && (
        <div>
          <button
            type="button"
            onClick={() => {
              setClears(clears + 1)
              onChange(parseFilters(filters, new URLSearchParams()))
            }}
          >
            Clear filters
          </button>
        </div>
      )}
      <div id={id} class="filters-more" hidden={!isOpen}>
        {isOpen && more.map(toField)}
      </div>
    </search>
  )
}

type FieldProps<T> = BarProps<T> & { name: string; filter: Filter<T> }

function Field<T>({ name, filter, values, items, onChange }: Omit<FieldProps<T>, 'filters'>) {
  const { label, choices, isTime, isSearch, isExact, placeholder, maxLength } = filter
  const value = values[name] ?? ''
  const change = (text: string) => onChange({ [name]: text })
  if (isTime) return <TimeField values={values} onChange={onChange} />
  if (choices) return <ChoiceField {...{ label, choices, value }} onChange={change} />
  if (isSearch)
    return (
      <Labelled label={label} class="filters-search">
        {(id) => (
          <input
            {...{ id, value, placeholder, maxLength }}
            type="search"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        )}
      </Labelled>
    )
  const suggestions = filter.useSuggestions?.(items)
  return (
    <Labelled label={label}>
      {(id) => (
        <SuggestingInput {...{ id, value, isExact, placeholder, maxLength, suggestions }} onCommit={change} />
      )}
    </Labelled>
  )
}

type ChoiceProps = {
  label: string
  /** What it says if nothing is chosen. */
  any?: string
  value: string
  choices: Record<string, string>
  onChange: (value: string) => void
}

const ChoiceField = ({ label, any = 'All', value, choices, onChange }: ChoiceProps) => (
  <Labelled label={label}>
    {(id) => (
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{any}</option>
        {Object.entries(choices).map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Labelled>
)

const CUSTOM = 'custom'
const TIME_CHOICES = {
  ...Object.fromEntries(Object.entries(PERIOD_NAMES).map(([period, name]) => [period, `Last ${name}`])),
  [CUSTOM]: 'From – to',
}

function TimeField({ values, onChange }: Pick<BarProps<never>, 'values' | 'onChange'>) {
  const { period = '', from = '', to = '' } = values
  const [isChosen, setIsChosen] = useState(false)
  const isCustom = period === '' && (isChosen || from !== '' || to !== '')

  function choose(value: string) {
    const isPeriod = Object.hasOwn(PERIODS, value)
    onChange({ period: isPeriod ? value : '', ...(value !== CUSTOM && { from: '', to: '' }) })
    setIsChosen(value === CUSTOM)
  }
  const toField = (name: 'from' | 'to', label: string, limit: object) => (
    <Labelled label={label}>
      {(id) => (
        <input
          {...limit}
          id={id}
          type="datetime-local"
          value={values[name]}
          onChange={({ currentTarget }) => onChange({ period: '', [name]: currentTarget.value })}
        />
      )}
    </Labelled>
  )
  return (
    <>
      <ChoiceField
        label="Time"
        any="Any time"
        value={isCustom ? CUSTOM : period}
        choices={TIME_CHOICES}
        onChange={choose}
      />
      {isCustom && (
        <div class="filters-range">
          {toField('from', 'From', { max: to })}
          {toField('to', 'To', { min: from })}
        </div>
      )}
    </>
  )
}

type LabelledProps = { label: string; class?: string; children: (id: string) => ComponentChildren }

function Labelled({ label, class: className = '', children }: LabelledProps) {
  const id = useId()
  return (
    <div class={`filters-field ${className}`}>
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  )
}

type InputProps = {
  id: string
  value: string
  isExact?: boolean | undefined
  onCommit: (value: string) => void
  suggestions?: Iterable<Suggestion> | undefined
  placeholder?: string | undefined
  maxLength?: number | undefined
  required?: boolean
}

/** A text that counts when it is complete. What is typed survives when the page is rendered again. */
function SuggestingInput({ id, value, isExact, onCommit, suggestions, ...attributes }: InputProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <>
      <input
        {...attributes}
        id={id}
        type="text"
        list={suggestions && `${id}-list`}
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => {
          const text = isExact ? currentTarget.value : currentTarget.value.trim()
          setTyped(text)
          if (text !== value) onCommit(text)
        }}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {[...suggestions].map(([value, name]) => (
            <option key={value} value={value}>
              {toVisible(name)}
            </option>
          ))}
        </datalist>
      )}
    </>
  )
}

/** A field for the slug or the ID of an agent, which suggests those that exist. */
export const AgentInput = (input: Pick<InputProps, 'id' | 'value' | 'onCommit' | 'required'>) => (
  <SuggestingInput {...input} placeholder="Slug or ID" suggestions={useAgentSuggestions()} />
)
