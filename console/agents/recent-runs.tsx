import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { BarChart } from '../components/bar-chart.tsx'
import { Card } from '../components/data.tsx'
import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatPercent,
  formatTime,
  shortId,
} from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { ErrorBox, Spinner } from '../components/page.tsx'
import { Duration, RunLink, StatusBadge, Time, VersionLink } from '../components/values.tsx'
import { NO_FILTERS } from '../runs/filters.ts'
import { type Run, useRuns } from '../runs/use-runs.ts'
import { toHref, toPath } from '../state/location.ts'
import { durationOf, durationsOf, percentile } from './durations.ts'

/** A page of the list: enough for a rate. */
const COUNTED = 100
const LISTED = 10

/** How the latest runs of an agent went. */
export function RecentRuns({ agent }: { agent: AgentRecord }) {
  const list = useRuns({ ...NO_FILTERS, agent: agent.slug }, undefined)
  const { isLoading, error, reload } = list
  const runs = [...list.fresh, ...list.items].slice(0, COUNTED)
  return (
    <Card
      title="Recent runs"
      class="stack"
      actions={<a href={toHref('/runs', { agent: agent.slug })}>All runs</a>}
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {runs.length === 0 && isLoading && <Spinner label="Loading runs…" />}
      {runs.length === 0 && !isLoading && !error && (
        <p class="empty">
          It has not run yet. <a href={toHref(toPath('agents', agent.slug, 'try'))}>Try it</a>
        </p>
      )}
      {runs.length > 0 && (
        <>
          <Figures runs={runs} isAll={list.next === null && runs.length < COUNTED} />
          <DurationChart runs={runs} />
          <ItemTable
            caption="Latest runs"
            items={runs.slice(0, LISTED)}
            columns={{
              Run: ({ id }) => <RunLink executionId={id} />,
              Status: ({ status, error }) => <StatusBadge status={status} code={error?.code} />,
              Created: ({ createdAt }) => <Time value={createdAt} />,
              Duration: { numeric: (run) => <Duration ms={durationOf(run)} /> },
              Version: ({ documentId, versionId }) => (
                <VersionLink agent={documentId} versionId={versionId} />
              ),
            }}
          />
        </>
      )}
    </Card>
  )
}

function Figures({ runs, isAll }: { runs: Run[]; isAll: boolean }) {
  const succeeded = runs.filter(({ status }) => status === 'SUCCESS').length
  const failed = runs.filter(({ status }) => status === 'ERROR').length
  const durations = durationsOf(runs)
  const [median, p95] = [percentile(durations, 0.5), percentile(durations, 0.95)]
  const ended = succeeded + failed
  const open = runs.length - ended
  return (
    <p>
      {isAll ? 'Of all' : 'Of the newest'} <strong>{formatCountOf(runs.length, 'run')}</strong>:{' '}
      <strong>{ended === 0 ? '–' : formatPercent(succeeded / ended)}</strong> succeeded
      {failed > 0 && `, ${formatCount(failed)} failed`}
      {open > 0 && `, ${formatCount(open)} in progress`}
      {median !== null && (
        <>
          . Median duration <strong>{formatDuration(median)}</strong>
          {p95 !== null && `, p95 ${formatDuration(p95)}`}
        </>
      )}
      .
    </p>
  )
}

/** A bar for each run that a worker has ended, the newest on the right. */
function DurationChart({ runs }: { runs: Run[] }) {
  const ended = runs.filter((run) => durationOf(run) !== null).toReversed()
  if (ended.length === 0) return null
  return (
    <BarChart
      label={`Durations of the last ${formatCountOf(ended.length, 'run')}, the newest last`}
      axis="Run"
      series={[
        { name: 'Success', color: 2 },
        { name: 'Error', color: 3 },
      ]}
      bars={ended.map((run) => {
        const duration = durationOf(run) ?? 0
        return {
          label: `${formatTime(run.createdAt)} · ${shortId(run.id)}`,
          values: run.status === 'SUCCESS' ? [duration, 0] : [0, duration],
          href: toHref(toPath('runs', run.id)),
        }
      })}
      format={formatDuration}
    />
  )
}
