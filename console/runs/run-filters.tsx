import { useEffect, useId, useState } from 'preact/hooks'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { useAgents } from '../api/agents.ts'
import { ChoiceFilter, TextFilter, TimeRangeFilter } from '../components/filters.tsx'
import { STATUS_LABELS } from '../components/values.tsx'
import { useMe } from '../state/session.ts'
import {
  changeFilters,
  type Filters,
  isFiltered,
  isSearch,
  MAX_LENGTHS,
  NO_FILTERS,
  SOURCES,
  STATUSES,
} from './filters.ts'
import type { Run } from './use-runs.ts'

const SOURCE_LABELS = {
  API: 'API request',
  AGENT: 'Another agent',
  BATCH: 'Batch',
  SCHEDULE: 'Schedule',
  TRIAL: 'Trial or rerun from a recording',
}
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
  /** What is listed: its values are suggested. */
  runs: Run[]
  onChange: (filters: Filters, isCustom: boolean) => void
}

/** Texts filter when the field is left or on Enter: each change is a request. */
export function RunFilters({ filters, isCustom, runs, onChange }: Props) {
  const moreId = useId()
  const agents = useAgents()
  const boundTenant = useMe()?.tenantId ?? null
  const [showsMore, setShowsMore] = useState(isSearch(filters))
  useEffect(() => {
    if (isSearch(filters)) setShowsMore(true)
  }, [filters])
  const set = (change: Partial<Filters>) => onChange(changeFilters(filters, change), isCustom)

  function choosePeriod(value: string) {
    const period = value in PERIOD_LABELS ? (value as Filters['period']) : ''
    const range = value === CUSTOM ? {} : { from: '', to: '' }
    onChange({ ...filters, ...range, period }, value === CUSTOM)
  }

  return (
    <search class="run-filters">
      <div class="run-filters-fields">
        <ChoiceFilter
          label="Status"
          value={filters.status}
          choices={STATUSES.map((status) => [status, STATUS_LABELS[status]])}
          onChange={(status) => set({ status: status as Filters['status'] })}
        />
        <TextFilter
          label="Agent"
          value={filters.agent}
          placeholder="Slug or ID"
          suggestions={[...(agents?.values() ?? [])].map(({ slug, title }) => [slug, title])}
          onCommit={(agent) => set({ agent })}
        />
        {boundTenant === null && (
          <TextFilter
            label="Tenant"
            value={filters.tenantId}
            maxLength={MAX_TENANT_ID}
            isExact
            suggestions={suggestionsOf(runs, ({ tenantId }) => tenantId)}
            onCommit={(tenantId) => set({ tenantId })}
          />
        )}
        <ChoiceFilter
          label="Time"
          any="Any time"
          value={isCustom ? CUSTOM : filters.period}
          choices={[...Object.entries(PERIOD_LABELS), [CUSTOM, 'From – to']]}
          onChange={choosePeriod}
        />
        <div>
          <button
            type="button"
            aria-expanded={showsMore}
            aria-controls={moreId}
            onClick={() => setShowsMore(!showsMore)}
          >
            {showsMore ? 'Fewer filters' : 'More filters'}
          </button>
        </div>
        {isFiltered(filters) && (
          <div>
            <button type="button" onClick={() => onChange(NO_FILTERS, false)}>
              Clear filters
            </button>
          </div>
        )}
      </div>
      {isCustom && <TimeRangeFilter from={filters.from} to={filters.to} onChange={set} />}
      <div id={moreId} class="run-filters-fields" hidden={!showsMore}>
        {showsMore && <MoreFilters filters={filters} runs={runs} set={set} />}
      </div>
    </search>
  )
}

type MoreProps = { filters: Filters; runs: Run[]; set: (change: Partial<Filters>) => void }

/** What no index of the service has. */
const MoreFilters = ({ filters, runs, set }: MoreProps) => (
  <>
    <TextFilter
      label="Error code"
      value={filters.errorCode}
      maxLength={MAX_LENGTHS.errorCode}
      suggestions={suggestionsOf(runs, ({ error }) => error?.code)}
      onCommit={(errorCode) => set({ errorCode })}
    />
    <TextFilter
      label="Text in the error"
      value={filters.errorText}
      maxLength={MAX_LENGTHS.errorText}
      onCommit={(errorText) => set({ errorText })}
    />
    <TextFilter
      label="Version"
      value={filters.version}
      placeholder="ID"
      maxLength={MAX_LENGTHS.version}
      suggestions={suggestionsOf(runs, ({ versionId }) => versionId)}
      onCommit={(version) => set({ version })}
    />
    <ChoiceFilter
      label="Source"
      value={filters.source}
      choices={SOURCES.map((source) => [source, SOURCE_LABELS[source]])}
      onChange={(source) => set({ source: source as Filters['source'] })}
    />
    <TextFilter
      label="Model"
      value={filters.model}
      maxLength={MAX_LENGTHS.model}
      suggestions={suggestionsOf(runs, ({ model }) => model)}
      onCommit={(model) => set({ model })}
    />
  </>
)

/** Runs whose values are suggested, and the most values. */
const [MAX_RUNS, MAX_SUGGESTIONS] = [500, 30]

function suggestionsOf(runs: Run[], read: (run: Run) => string | null | undefined): [string, string][] {
  const values = new Set(runs.slice(0, MAX_RUNS).map(read))
  return [...values]
    .filter((value) => value != null)
    .slice(0, MAX_SUGGESTIONS)
    .map((value) => [value, ''])
}
