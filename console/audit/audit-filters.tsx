import { useState } from 'preact/hooks'
import { MAX_FILTER } from '../../lib/core/limits.ts'
import { useAgents } from '../api/agents.ts'
import { ChoiceFilter, TextFilter, TimeRangeFilter } from '../components/filters.tsx'
import { PERIODS } from '../components/range.ts'
import { useMe, useScope } from '../state/session.ts'
import { PERIOD_LABELS } from '../usage/periods.ts'
import { ACTION_LABELS, ACTIONS, type Entry, type Filters, isFiltered, NO_FILTERS, nameOf } from './audit.ts'

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
        <ChoiceFilter
          label="Action"
          value={action}
          choices={ACTIONS.map((each) => [each, ACTION_LABELS[each]])}
          onChange={(value) => set({ action: value as Filters['action'] })}
        />
        <TextFilter
          label="By"
          value={actor}
          placeholder="ID or subject"
          maxLength={MAX_FILTER.actor}
          suggestions={useActors(entries)}
          onCommit={(text) => set({ actor: text })}
        />
        <TextFilter
          label="What"
          value={target}
          placeholder="ID"
          maxLength={MAX_FILTER.target}
          suggestions={useTargets(entries)}
          onCommit={(text) => set({ target: text })}
        />
        <ChoiceFilter
          label="Time"
          any="Any time"
          value={hasRange ? CUSTOM : period}
          choices={[
            ...Object.entries(PERIOD_LABELS).map(([each, label]): [string, string] => [
              each,
              `Last ${label}`,
            ]),
            [CUSTOM, 'From – to'],
          ]}
          onChange={choosePeriod}
        />
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
        <TimeRangeFilter from={from} to={to} onChange={(change) => set({ ...change, period: '' })} />
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
