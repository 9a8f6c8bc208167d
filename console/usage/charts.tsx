import type { VersionRecord } from '../../lib/contract/records/agent.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { nameOfVersion } from '../api/agents.ts'
import { BarChart, type Series } from '../components/bar-chart.tsx'
import { formatCompact, formatCost, formatCount } from '../components/format.ts'
import { Card } from '../components/page.tsx'
import { formatPart, type Period, partsOf, spanOf, toRuns, type UsageOf } from './periods.ts'
import { addUp, type Totals } from './totals.ts'
import type { Usage } from './use-usage.ts'

type Props = { usage: Usage; period: Period; of: UsageOf; versions: VersionRecord[] | undefined }

type ChartOf = {
  title: string
  label: string
  series: Series[]
  valuesOf: (totals: Totals, rows: UsageRowRecord[]) => number[]
  format: (value: number) => string
  /** The status of the runs that a bar leads to. */
  status?: 'ERROR'
}

export const RUNS: Series[] = [
  { name: 'Success', color: 2 },
  { name: 'Error', color: 3 },
]
const BY_TIME = 'by the time at which the runs ended'

const CHARTS: ChartOf[] = [
  {
    ...{ title: 'Runs over time', label: 'Runs by the time of their end', series: RUNS },
    ...{ valuesOf: ({ runs, failed }) => [runs - failed, failed], format: formatCount },
  },
  {
    ...{ title: 'Errors over time', label: 'Failed runs by the time of their end', status: 'ERROR' },
    ...{ series: [{ name: 'Errors', color: 3 }], valuesOf: ({ failed }) => [failed], format: formatCount },
  },
  {
    ...{ title: 'Cost over time', label: `Cost of model responses ${BY_TIME}` },
    ...{ series: [{ name: 'Cost', color: 1 }], valuesOf: ({ costUsd }) => [costUsd], format: formatCost },
  },
  {
    ...{ title: 'Tokens over time', label: `Tokens ${BY_TIME}`, series: [{ name: 'Tokens', color: 1 }] },
    ...{ valuesOf: ({ inputTokens, outputTokens }) => [inputTokens + outputTokens], format: formatCompact },
  },
]

/** The newest versions that cost something have colors of their own. */
function costByVersion(rows: UsageRowRecord[], versions: VersionRecord[]): ChartOf {
  const costOf = (of: UsageRowRecord[], ids: (string | undefined)[]) =>
    addUp(of.filter(({ versionId }) => ids.includes(versionId))).costUsd
  const costly = [...new Set(rows.filter(({ costUsd }) => costUsd > 0).map(({ versionId }) => versionId))]
  const shown = versions.filter(({ id }) => costly.includes(id)).slice(0, VERSION_COLORS.length)
  const others = costly.filter((each) => shown.every(({ id }) => id !== each))
  return {
    title: 'Cost by version over time',
    label: `Cost of model responses by version, ${BY_TIME}`,
    series: [
      ...shown.map(
        (each, index): Series => ({ name: nameOfVersion(each), color: VERSION_COLORS[index] ?? 4 }),
      ),
      ...(others.length > 0 ? [{ name: 'Others', color: 4 } as const] : []),
    ],
    valuesOf: (_, of) => [...shown.map(({ id }) => costOf(of, [id])), costOf(of, others)],
    format: formatCost,
  }
}

const VERSION_COLORS = [1, 2, 3] as const

/** What became current in a part of time. */
const promotedIn = (versions: VersionRecord[], { from, to }: { from: number; to: number }) =>
  versions
    .filter(({ promotedAt }) => promotedAt && Date.parse(promotedAt) >= from && Date.parse(promotedAt) < to)
    .map((version) => `${nameOfVersion(version)} promoted`)
    .join(', ') || undefined

/** @param versions of the agent that the usage is of: their costs are apart */
export function Charts({ usage: { items, now }, period, of, versions }: Props) {
  const parts = partsOf(period, now, items).map((part) => ({
    ...part,
    label: formatPart(period, part.from, now),
    totals: addUp(part.rows),
  }))
  const middle = parts[Math.floor(parts.length / 2)]
  const last = spanOf(period, now).to === null ? 'now' : parts.at(-1)?.label
  const charts = versions ? CHARTS.with(2, costByVersion(items, versions)) : CHARTS
  return charts.map(({ title, label, series, valuesOf, format, status }) => (
    <Card key={title} title={title}>
      <BarChart
        {...{ label, series, format }}
        axis="From"
        ticks={[parts[0]?.label, middle?.label, last]}
        bars={parts.map(({ from, to, label: start, totals, rows }) => ({
          label: start,
          values: valuesOf(totals, rows),
          href: toRuns({ status, ...of, from, to }),
          mark: versions && promotedIn(versions, { from, to }),
        }))}
      />
    </Card>
  ))
}
