import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import { BarChart } from '../components/bar-chart.tsx'
import { formatCompact, formatCost, formatCount, formatDuration, formatTime } from '../components/format.ts'
import {
  bucketByTime,
  costOf,
  countFailures,
  durationsOf,
  histogram,
  percentile,
  tokensOf,
} from './statistics.ts'

type Run = ExecutionSummaryRecord
type Props = { runs: Run[] }

/** Bars of a chart over time. */
const MAX_BARS = 40

function ChartCard({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <section class="card chart-card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

const NoData = ({ children }: { children: ComponentChildren }) => <p class="muted">{children}</p>

/** A bar for each part of the time in which the runs were created. */
function overTime(runs: Run[], valuesOf: (runs: Run[]) => number[]) {
  return bucketByTime(runs, ({ createdAt }) => Date.parse(createdAt), MAX_BARS).map(({ from, items }) => ({
    label: formatTime(new Date(from).toISOString()),
    values: valuesOf(items),
  }))
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

export const RunChart = ({ runs }: Props) => (
  <ChartCard title="Runs over time">
    <BarChart
      label="Runs by the time of their creation"
      axis="From"
      series={[
        { name: 'Success', color: 2 },
        { name: 'Error', color: 3 },
        { name: 'In progress', color: 1 },
      ]}
      bars={overTime(runs, (part) =>
        ['SUCCESS', 'ERROR', 'IN_PROGRESS'].map(
          (each) => part.filter(({ status }) => status === each).length,
        ),
      )}
      format={formatCount}
    />
  </ChartCard>
)

export function DurationChart({ runs }: Props) {
  const durations = durationsOf(runs)
  const figures = [0.5, 0.9, 0.99].map((part) => {
    const value = percentile(durations, part)
    return `p${100 * part} ${value === null ? '–' : formatDuration(value)}`
  })
  return (
    <ChartCard title="Durations">
      <BarChart
        label={`Runs by duration. ${figures.join(', ')}`}
        axis="Duration"
        series={[{ name: 'Runs', color: 1 }]}
        bars={histogram(durations).map(({ from, to, items }) => ({
          label: Number.isFinite(to)
            ? `${formatDuration(from)} – ${formatDuration(to)}`
            : `≥ ${formatDuration(from)}`,
          values: [items.length],
        }))}
        format={formatCount}
      />
      <p class="muted">{figures.join(' · ')}</p>
    </ChartCard>
  )
}

export const TokenChart = ({ runs }: Props) => (
  <ChartCard title="Tokens over time">
    <BarChart
      label="Tokens by the time of the runs"
      axis="From"
      series={[{ name: 'Tokens', color: 1 }]}
      bars={overTime(runs, (part) => [sum(part.map(tokensOf))])}
      format={formatCompact}
    />
  </ChartCard>
)

export const CostChart = ({ runs }: Props) => (
  <ChartCard title="Cost over time">
    <BarChart
      label="Cost of model responses by the time of the runs"
      axis="From"
      series={[{ name: 'Cost', color: 1 }]}
      bars={overTime(runs, (part) => [sum(part.map(costOf))])}
      format={formatCost}
    />
  </ChartCard>
)

/** How often each error code occurs. */
export function Failures({ runs }: Props) {
  const failures = countFailures(runs)
  const max = failures[0]?.count ?? 1
  return (
    <ChartCard title="Failures by code">
      {failures.length === 0 ? (
        <NoData>None of these runs has failed.</NoData>
      ) : (
        <ul class="failures">
          {failures.map(({ code, count }) => (
            <li key={code}>
              <code>{code}</code>
              <span class="failure-track" aria-hidden="true">
                <span style={{ width: `${(100 * count) / max}%` }} />
              </span>
              <span class="numeric">{formatCount(count)}</span>
            </li>
          ))}
        </ul>
      )}
      <p>
        <a href="#/runs?status=ERROR">Failed runs</a>
      </p>
    </ChartCard>
  )
}
