import { useRef } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { requestPage } from '../api/request.ts'
import { type List, useList } from '../api/use-list.ts'
import { BarChart } from '../components/bar-chart.tsx'
import { formatCount, formatCountOf, formatDuration, formatTime, shortId } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { ListView } from '../components/list.tsx'
import { Card } from '../components/page.tsx'
import { Duration, RunLink, StatusBadge, Time, VersionLink } from '../components/values.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import type { Run } from '../runs/run-list.ts'
import { toHref, toPath } from '../state/location.ts'
import { RUNS } from '../usage/charts.tsx'
import type { Figure } from '../usage/usage-figures.tsx'
import { durationOf, durationsOf, groupErrors, percentile } from './run-figures.ts'

/** Ten pages: enough for a 95th percentile. */
const COUNTED = 1_000
const CHARTED = 100
const LISTED = 10
const POLL_MS = 30_000

/** The newest runs of an agent, page after page; then, what is new. */
export function useNewestRuns({ slug }: AgentRecord): List<Run> {
  const path = `/v1/agents/${encodeURIComponent(slug)}/executions`
  const query = { fields: 'summary', limit: 100 }
  const count = useRef(0)
  return useList<Run>(path, {
    ...{ query, isWhole: true },
    poll: { limit: 20, everyMs: () => POLL_MS },
    async load(next, signal) {
      const page = await requestPage<Run>(path, { query: next ?? query, signal })
      count.current = (next ? count.current : 0) + page.items.length
      return count.current < COUNTED ? page : { ...page, next: null }
    },
  })
}

export function durationFigure(runs: Run[]): Figure {
  const durations = durationsOf(runs.slice(0, COUNTED))
  const [median, p95] = [percentile(durations, 0.5), percentile(durations, 0.95)]
  if (median === null || p95 === null) return ['Duration', '–', 'no run has ended']
  const newest = `of the newest ${formatCountOf(durations.length, 'run')}, with waiting`
  return ['Duration p50', formatDuration(median), `p95 ${formatDuration(p95)}, ${newest}`]
}

export function RecentRuns({ agent: { slug }, list }: { agent: AgentRecord; list: List<Run> }) {
  const { items: runs } = list
  return (
    <>
      <Errors slug={slug} runs={runs.slice(0, COUNTED)} />
      <Card
        title="Recent runs"
        class="stack"
        actions={<a href={toHref('/runs', { agent: slug })}>All runs</a>}
      >
        <DurationChart runs={runs.slice(0, CHARTED)} />
        <ListView
          list={list}
          found={runs.slice(0, LISTED)}
          noun="run"
          isUncounted
          caption="Latest runs"
          columns={{
            Run: ({ id }) => <RunLink executionId={id} />,
            Status: ({ status, error }) => <StatusBadge status={status} code={error?.code} />,
            Created: ({ createdAt }) => <Time value={createdAt} />,
            Duration: { numeric: (run) => <Duration ms={durationOf(run)} /> },
            Version: ({ documentId, versionId }) => <VersionLink agent={documentId} versionId={versionId} />,
          }}
          empty={say`It has not run yet. ${<a href={toHref(toPath('agents', slug, 'try'))}>Try it</a>}`}
        />
      </Card>
    </>
  )
}

function Errors({ slug, runs }: { slug: string; runs: Run[] }) {
  const groups = groupErrors(runs)
  if (groups.length === 0) return null
  return (
    <Card title="Errors by message" class="stack">
      <p class="muted">
        Of the newest {formatCountOf(runs.length, 'run')}. Numbers and IDs in messages may differ.
      </p>
      <ItemTable
        caption="Errors by message, the most frequent first"
        items={groups.slice(0, LISTED)}
        keyOf={({ last }) => last.id}
        columns={{
          Error: ({ code }) => (
            <a href={toHref('/runs', { agent: slug, status: 'ERROR', errorCode: code })}>
              <VisibleText text={code} class="mono" />
            </a>
          ),
          'Last message': { text: ({ last }) => last.error?.message },
          Runs: { numeric: ({ count }) => formatCount(count) },
          'First seen': ({ firstSeen }) => <Time value={firstSeen} />,
          'Last seen': ({ last }) => (
            <a href={toHref(toPath('runs', last.id))}>
              <Time value={last.createdAt} />
            </a>
          ),
          Tenants: { text: ({ tenants }) => describeTenants(tenants) },
        }}
      />
      {groups.length > LISTED && <p class="muted">And {formatCount(groups.length - LISTED)} more.</p>}
    </Card>
  )
}

const NAMED = 3

const describeTenants = (tenants: (string | null)[]) => (
  <>
    {tenants.slice(0, NAMED).map((tenant, index) => (
      <span key={tenant}>
        {index > 0 && ', '}
        {tenant === null ? <span class="muted">none</span> : <VisibleText text={tenant} />}
      </span>
    ))}
    {tenants.length > NAMED && ` and ${formatCount(tenants.length - NAMED)} more`}
  </>
)

function DurationChart({ runs }: { runs: Run[] }) {
  const ended = runs.filter((run) => durationOf(run) !== null).toReversed()
  if (ended.length === 0) return null
  return (
    <BarChart
      label={`Durations of the last ${formatCountOf(ended.length, 'run')}, the newest last`}
      axis="Run"
      series={RUNS}
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
