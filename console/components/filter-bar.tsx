import './filter-bar.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { useMe } from '../state/session.ts'
import {
  type Filter,
  type Filters,
  isFiltered,
  parseFilters,
  type Suggestion,
  useAgentSuggestions,
  type Values,
} from './filters.ts'
import { PERIOD_NAMES, PERIODS } from './range.ts'
import { toVisible } from './visible-text.tsx'

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
