import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { toVisible } from './visible-text.tsx'

type Suggestion = [value: string, name: string]

type InputProps = {
  id: string
  value: string
  /** Spaces at its ends count. */
  isExact?: boolean | undefined
  onCommit: (value: string) => void
  list?: string | undefined
  placeholder?: string
  maxLength?: number
  required?: boolean
}

/** A text that counts when it is complete. What is typed survives when the page is rendered again. */
export function CommittedInput({ value, isExact, onCommit, ...attributes }: InputProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <input
      {...attributes}
      type="text"
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
  )
}

export const Suggestions = ({ id, values }: { id: string; values: Iterable<Suggestion> }) => (
  <datalist id={id}>
    {[...values].map(([value, name]) => (
      <option key={value} value={value}>
        {toVisible(name)}
      </option>
    ))}
  </datalist>
)

type TextProps = Omit<InputProps, 'id' | 'list'> & { label: string; suggestions?: Iterable<Suggestion> }

export const TextFilter = ({ label, suggestions, ...input }: TextProps) => (
  <Labelled label={label}>
    {(id) => (
      <>
        <CommittedInput {...input} id={id} list={suggestions && `${id}-list`} />
        {suggestions && <Suggestions id={`${id}-list`} values={suggestions} />}
      </>
    )}
  </Labelled>
)

type ChoiceProps = {
  label: string
  /** What it says if nothing is chosen. */
  any?: string
  value: string
  choices: [value: string, label: string][]
  onChange: (value: string) => void
}

export const ChoiceFilter = ({ label, any = 'All', value, choices, onChange }: ChoiceProps) => (
  <Labelled label={label}>
    {(id) => (
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{any}</option>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Labelled>
)

type RangeProps = { from: string; to: string; onChange: (change: { from?: string; to?: string }) => void }

export const TimeRangeFilter = ({ from, to, onChange }: RangeProps) => (
  <div class="run-filters-fields run-filters-range">
    <TimeFilter label="From" value={from} max={to} onChange={(text) => onChange({ from: text })} />
    <TimeFilter label="To" value={to} min={from} onChange={(text) => onChange({ to: text })} />
  </div>
)

type TimeProps = {
  label: string
  value: string
  min?: string
  max?: string
  onChange: (value: string) => void
}

const TimeFilter = ({ label, onChange, ...input }: TimeProps) => (
  <Labelled label={label}>
    {(id) => (
      <input
        {...input}
        id={id}
        type="datetime-local"
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )}
  </Labelled>
)

function Labelled({ label, children }: { label: string; children: (id: string) => ComponentChildren }) {
  const id = useId()
  return (
    <div>
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  )
}
