import { useEffect, useId, useState } from 'preact/hooks'
import { useAgents } from '../api/agents.ts'
import { useMe } from '../state/session.ts'
import { type Filters, isFiltered, STATUSES } from './filters.ts'

const STATUS_LABELS = { IN_PROGRESS: 'In progress', SUCCESS: 'Success', ERROR: 'Error' }
const PERIOD_LABELS = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}
const CUSTOM = 'custom'

type Props = {
  filters: Filters
  /** Whether the fields of a range of times are shown. */
  isCustom: boolean
  onChange: (filters: Filters, isCustom: boolean) => void
}

/** Texts filter when the field is left or on Enter: each change is a request. */
export function RunFilters({ filters, isCustom, onChange }: Props) {
  const id = useId()
  const agents = useAgents()
  const boundTenant = useMe()?.tenantId ?? null
  const set = (change: Partial<Filters>) => onChange({ ...filters, ...change }, isCustom)
  const agentText = useText(filters.agent, (agent) => set({ agent: agent.trim() }))
  const tenantText = useText(filters.tenantId, (tenantId) => set({ tenantId }))

  function choosePeriod(value: string) {
    const period = value in PERIOD_LABELS ? (value as Filters['period']) : ''
    const range = value === CUSTOM ? {} : { from: '', to: '' }
    onChange({ ...filters, ...range, period }, value === CUSTOM)
  }

  return (
    <search class="run-filters">
      <div>
        <label for={`${id}-status`}>Status</label>
        <select
          id={`${id}-status`}
          value={filters.status}
          onChange={({ currentTarget }) => set({ status: currentTarget.value as Filters['status'] })}
        >
          <option value="">All</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {STATUS_LABELS[status]}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for={`${id}-agent`}>Agent</label>
        <input
          id={`${id}-agent`}
          list={`${id}-agents`}
          placeholder="Slug or ID"
          autocomplete="off"
          spellcheck={false}
          {...agentText}
        />
        <datalist id={`${id}-agents`}>
          {[...(agents?.values() ?? [])].map(({ slug, title }) => (
            <option key={slug} value={slug}>
              {title}
            </option>
          ))}
        </datalist>
      </div>
      {boundTenant === null && (
        <div>
          <label for={`${id}-tenant`}>Tenant</label>
          <input id={`${id}-tenant`} autocomplete="off" spellcheck={false} maxLength={128} {...tenantText} />
        </div>
      )}
      <div>
        <label for={`${id}-period`}>Time</label>
        <select
          id={`${id}-period`}
          value={isCustom ? CUSTOM : filters.period}
          onChange={({ currentTarget }) => choosePeriod(currentTarget.value)}
        >
          <option value="">Any time</option>
          {Object.entries(PERIOD_LABELS).map(([period, label]) => (
            <option key={period} value={period}>
              {label}
            </option>
          ))}
          <option value={CUSTOM}>From – to</option>
        </select>
      </div>
      {isCustom && (
        <>
          <div>
            <label for={`${id}-from`}>From</label>
            <input
              id={`${id}-from`}
              type="datetime-local"
              value={filters.from}
              max={filters.to}
              onChange={({ currentTarget }) => set({ from: currentTarget.value })}
            />
          </div>
          <div>
            <label for={`${id}-to`}>To</label>
            <input
              id={`${id}-to`}
              type="datetime-local"
              value={filters.to}
              min={filters.from}
              onChange={({ currentTarget }) => set({ to: currentTarget.value })}
            />
          </div>
        </>
      )}
      {isFiltered(filters) && (
        <div>
          <button
            type="button"
            onClick={() =>
              onChange({ status: '', agent: '', tenantId: '', period: '', from: '', to: '' }, false)
            }
          >
            Clear filters
          </button>
        </div>
      )}
    </search>
  )
}

/** Attributes of a text that counts when it is complete. What is typed survives when the page is rendered again. */
function useText(value: string, onCommit: (value: string) => void) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return {
    value: typed,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => setTyped(currentTarget.value),
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onCommit(currentTarget.value),
  }
}
