import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { useAgents } from '../api/agents.ts'
import { CommittedInput } from '../components/agent-tenant-filters.tsx'
import { toVisible } from '../components/visible-text.tsx'
import { PERIODS } from '../runs/filters.ts'
import { useMe, useScope } from '../state/session.ts'
import { PERIOD_LABELS } from '../usage/periods.ts'
import {
  ACTION_LABELS,
  ACTIONS,
  type Entry,
  type Filters,
  isFiltered,
  MAX_LENGTHS,
  NO_FILTERS,
  nameOf,
} from './audit.ts'

const CUSTOM = 'custom'

type Props = {
  filters: Filters
  /** What is listed: its values are suggested. */
  entries: Entry[]
  onChange: (filters: Filters) => void
}

/** Texts filter when the field is left or on Enter: each change is a request. */
export function AuditFilters({ filters, entries, onChange }: Props) {
  const { action, actor, target, period, from, to } = filters
  const [isCustom, setIsCustom] = useState(from !== '' || to !== '')
  const set = (change: Partial<Filters>) => onChange({ ...filters, ...change })
  const hasRange = isCustom || from !== '' || to !== ''

  function choosePeriod(value: string) {
    setIsCustom(value === CUSTOM)
    set({
      period: Object.hasOwn(PERIODS, value) ? (value as Filters['period']) : '',
      ...(value !== CUSTOM && { from: '', to: '' }),
    })
  }

  return (
    <search class="run-filters">
      <div class="run-filters-fields">
        <Field label="Action">
          {(id) => (
            <select
              id={id}
              value={action}
              onChange={({ currentTarget }) => set({ action: currentTarget.value as Filters['action'] })}
            >
              <option value="">All</option>
              {ACTIONS.map((each) => (
                <option key={each} value={each}>
                  {ACTION_LABELS[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextFilter
          label="By"
          value={actor}
          placeholder="ID or subject"
          maxLength={MAX_LENGTHS.actor}
          suggestions={useActors(entries)}
          onCommit={(text) => set({ actor: text })}
        />
        <TextFilter
          label="What"
          value={target}
          placeholder="ID"
          maxLength={MAX_LENGTHS.target}
          suggestions={useTargets(entries)}
          onCommit={(text) => set({ target: text })}
        />
        <Field label="Time">
          {(id) => (
            <select
              id={id}
              value={hasRange ? CUSTOM : period}
              onChange={({ currentTarget }) => choosePeriod(currentTarget.value)}
            >
              <option value="">Any time</option>
              {Object.entries(PERIOD_LABELS).map(([each, label]) => (
                <option key={each} value={each}>
                  Last {label}
                </option>
              ))}
              <option value={CUSTOM}>From – to</option>
            </select>
          )}
        </Field>
        {isFiltered(filters) && (
          <div>
            <button
              type="button"
              onClick={() => {
                setIsCustom(false)
                onChange(NO_FILTERS)
              }}
            >
              Clear filters
            </button>
          </div>
        )}
      </div>
      {hasRange && (
        <div class="run-filters-fields run-filters-range">
          <TimeFilter
            label="From"
            value={from}
            max={to}
            onChange={(text) => set({ from: text, period: '' })}
          />
          <TimeFilter label="To" value={to} min={from} onChange={(text) => set({ to: text, period: '' })} />
        </div>
      )}
    </search>
  )
}

type Suggestions = ReadonlyMap<string, string>

/** The most values that are suggested. */
const MAX_SUGGESTIONS = 30

const first = (values: [string, string][]): Suggestions =>
  new Map([...new Map(values)].slice(0, MAX_SUGGESTIONS))

function useActors(entries: Entry[]): Suggestions {
  const me = useMe()
  const listed = entries.map(({ actor }): [string, string] => [actor.subject ?? actor.id, nameOf(actor)])
  return first([...(me ? [[me.tokenId, 'This token'] as [string, string]] : []), ...listed])
}

/** Agents have the changes of their versions and schedules. */
function useTargets(entries: Entry[]): Suggestions {
  const mayRead = useScope('read')
  const agents = useAgents()
  const named = mayRead ? [...(agents?.values() ?? [])] : []
  const listed = entries.flatMap(({ target }): [string, string][] =>
    target.id === null ? [] : [[target.id, target.kind]],
  )
  return first([...listed, ...named.map(({ id, title }): [string, string] => [id, title])])
}

type TextProps = {
  label: string
  value: string
  placeholder: string
  maxLength: number
  /** Values, each with what it is. */
  suggestions: Suggestions
  onCommit: (value: string) => void
}

const TextFilter = ({ label, suggestions, onCommit, ...input }: TextProps) => (
  <Field label={label}>
    {(id) => (
      <>
        <CommittedInput {...input} id={id} list={`${id}-list`} onCommit={(text) => onCommit(text.trim())} />
        <datalist id={`${id}-list`}>
          {[...suggestions].map(([value, name]) => (
            <option key={value} value={value}>
              {toVisible(name)}
            </option>
          ))}
        </datalist>
      </>
    )}
  </Field>
)

type TimeProps = {
  label: string
  value: string
  min?: string
  max?: string
  onChange: (value: string) => void
}

const TimeFilter = ({ label, onChange, ...input }: TimeProps) => (
  <Field label={label}>
    {(id) => (
      <input
        {...input}
        id={id}
        type="datetime-local"
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )}
  </Field>
)

function Field({ label, children }: { label: string; children: (id: string) => ComponentChildren }) {
  const id = useId()
  return (
    <div>
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  )
}
