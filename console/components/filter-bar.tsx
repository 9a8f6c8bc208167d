import './list.css'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { hrefHere, navigate } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { Button } from './button.tsx'
import { Field, Suggestions } from './field.tsx'
import {
  type Filter,
  type Filters,
  isFiltered,
  parseFilters,
  type Suggestion,
  useAgentSuggestions,
  type Values,
} from './filters.ts'
import { Segments } from './page.tsx'
import { CUSTOM } from './range.ts'

type BarProps<T> = {
  filters: Filters<T>
  values: Values
  items: T[]
  onChange: (change: Partial<Values>) => void
}

export function FilterBar<T>({ filters, values, items, onChange }: BarProps<T>) {
  const id = useId()
  const isBound = useMe()?.tenantId != null
  const [showsMore, setShowsMore] = useState<boolean | null>(null)
  const fields = Object.entries(filters).filter(
    ([, { default: view, isOfTenants, isEnd }]) =>
      view === undefined && !(isOfTenants && isBound) && !(isEnd && values.period !== CUSTOM),
  )
  const more = fields.filter(([, { isMore }]) => isMore)
  const isOpen = showsMore ?? more.some(([name]) => values[name] !== '')
  const toField = ([name, filter]: [string, Filter<T>]) => (
    <FilterField
      key={name}
      {...{ filter, items }}
      value={values[name] ?? ''}
      limits={!filter.isEnd ? {} : name === 'from' ? { max: values.to } : { min: values.from }}
      onChange={(value) => onChange({ [name]: value })}
    />
  )
  return (
    <search class="filters">
      {fields.filter(([, { isMore }]) => !isMore).map(toField)}
      {more.length > 0 && (
        <div>
          <Button
            label={isOpen ? 'Fewer filters' : 'More filters'}
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setShowsMore(!isOpen)}
          />
        </div>
      )}
      {isFiltered(filters, values) && !fields.every(([, { type }]) => type === 'search') && (
        <div>
          <Button
            label="Clear filters"
            onClick={() => onChange(parseFilters(filters, new URLSearchParams()))}
          />
        </div>
      )}
      <div id={id} class="filters-more" hidden={!isOpen}>
        {isOpen && more.map(toField)}
      </div>
    </search>
  )
}

/** Filters that always have a value, as buttons. The back button leaves the page, however often they have changed. */
export const Views = ({ filters, values }: Pick<BarProps<never>, 'filters' | 'values'>) => (
  <>
    {Object.entries(filters).map(([name, { label, choices = {}, default: initial }]) =>
      initial === undefined ? null : (
        <Segments
          key={name}
          {...{ label, choices }}
          chosen={values[name] ?? initial}
          onChoose={(choice) =>
            navigate(hrefHere({ [name]: choice === initial ? null : choice }), { replace: true })
          }
        />
      ),
    )}
  </>
)

type FieldProps<T> = {
  filter: Filter<T>
  value: string
  items: T[]
  limits: { min?: string | undefined; max?: string | undefined }
  onChange: (value: string) => void
}

function FilterField<T>({ filter, value, items, limits, onChange }: FieldProps<T>) {
  const id = useId()
  const { label, choices, any = 'All', type = 'text', isExact, placeholder, maxLength } = filter
  const suggestions = filter.useSuggestions?.(items)
  return (
    <div class={`filters-field filters-${type}`}>
      <label for={id}>{label}</label>
      {choices ? (
        <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">{any}</option>
          {Object.entries(choices).map(([choice, name]) => (
            <option key={choice} value={choice}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <FilterInput
          {...limits}
          {...{ id, type, value, isExact, suggestions, placeholder, maxLength, onChange }}
        />
      )}
    </div>
  )
}

type InputProps = {
  id: string
  type?: NonNullable<Filter['type']>
  value: string
  isExact?: boolean | undefined
  suggestions?: Iterable<Suggestion> | undefined
  placeholder?: string | undefined
  maxLength?: number | undefined
  min?: string | undefined
  max?: string | undefined
  required?: boolean
  onChange: (value: string) => void
}

/** Texts wait until nothing was typed for this time: each is a request. */
const PAUSE_MS = 400

/** A text that counts as it is typed; where the page suggests what there is, once it is one of these, or complete. */
function FilterInput({ value, isExact, suggestions, onChange, ...attributes }: InputProps) {
  const { id, type: filterType = 'text' } = attributes
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const known = [...(suggestions ?? [])]
  function complete(text: string) {
    clearTimeout(timer.current)
    setTyped(text)
    if (text !== value) onChange(text)
  }
  // What it suggests may arrive after the text.
  const [found] = known.find(([each, name]) => each === typed || (name !== '' && name === typed)) ?? []
  useEffect(() => {
    if (found !== undefined) complete(found)
  }, [found])
  function type(text: string) {
    setTyped(text)
    clearTimeout(timer.current)
    if (filterType === 'search') complete(text)
    else if (text === '' || (!suggestions && filterType === 'text'))
      timer.current = setTimeout(() => complete(isExact ? text : text.trim()), PAUSE_MS)
  }
  return (
    <>
      <input
        {...attributes}
        type={filterType}
        list={suggestions && `${id}-list`}
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onChange={({ currentTarget: { value: text } }) =>
          complete(isExact || filterType === 'search' ? text : text.trim())
        }
      />
      {suggestions && <Suggestions id={id} values={known} />}
    </>
  )
}

/** A field for the slug or the ID of an agent, which suggests those that exist. */
export const AgentField = (field: { value: string; onChange: (value: string) => void }) => {
  const suggestions = useAgentSuggestions()
  return (
    <Field label="Agent">
      {({ id }) => <FilterInput {...field} {...{ id, suggestions }} required placeholder="Slug or ID" />}
    </Field>
  )
}
