import './usage.css'
import { useEffect } from 'preact/hooks'
import type { VersionRecord } from '../../lib/contract/records/agent.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { nameOfVersion } from '../api/agents.ts'
import { BarChart, type Series } from '../components/bar-chart.tsx'
import { Loaded } from '../components/detail-page.tsx'
import {
  formatCompact,
  formatCost,
  formatCount,
  formatCountOf,
  formatDuration,
  formatPercent,
} from '../components/format.ts'
import { Card } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useMe } from '../state/session.ts'
import { CostByAgent, CostByTenant, Ranking } from './cost-by.tsx'
import { describeSpan, formatPart, type Period, partsOf, spanOf, toRuns, type UsageOf } from './periods.ts'
import { addUp, averageRunTime, countErrors, type Totals } from './totals.ts'
import { type Usage, useUsage } from './use-usage.ts'

type Props = {
  period: Period
  of?: UsageOf
  onLoad?: (totals: Totals) => void
  /** An agent's versions, whose costs are apart, and how long its newest runs took, in place of the average. */
  agent?: { versions: VersionRecord[]; duration: Figure }
}

/** A name, its value, and what else is to be said. */
export type Figure = [name: string, value: string, detail: string]

export function UsageFigures({ period, of = {}, onLoad, agent }: Props) {
  const resource = useUsage(period, { ...of, ...(agent && { groupBy: 'version' }) })
  const { data, isLive } = resource
  const boundTenant = useMe()?.tenantId ?? null
  useEffect(() => {
    if (data) onLoad?.(addUp(data.items))
  }, [data])
  return (
    <>
      <Loaded of={resource} label="Loading usage…">
        {(usage) => <Figures {...{ usage, period, of, isLive, agent }} />}
      </Loaded>
      {/* They load at the same time. */}
      <div class="grid" hidden={!data}>
        {of.agent === undefined && <CostByAgent {...{ period, of }} />}
        {of.tenantId === undefined && boundTenant === null && <CostByTenant {...{ period, of }} />}
      </div>
    </>
  )
}

type PartProps = { usage: Usage; period: Period; of: UsageOf; agent: Props['agent'] }

function Figures({ isLive, ...part }: PartProps & { isLive: boolean }) {
  const { usage, period, agent } = part
  return (
    <>
      <p class="muted">
        {isLive
          ? `Runs that ended ${describeSpan(period, usage.now)}. Those of the last minutes may be missing.`
          : 'Updates are interrupted: the service does not respond. Trying again…'}
      </p>
      <TotalsCards totals={addUp(usage.items)} duration={agent?.duration} />
      <div class="charts">
        <Charts {...part} />
        <ErrorCodes {...part} />
      </div>
    </>
  )
}

function TotalsCards({ totals, duration }: { totals: Totals; duration: Figure | undefined }) {
  const { runs, failed, cacheHits, inputTokens, outputTokens, costUsd, unpricedRuns } = totals
  const average = averageRunTime(totals)
  const figures: Figure[] = [
    [
      'Runs',
      formatCount(runs),
      cacheHits > 0 ? `${formatCount(cacheHits)} from the cache` : 'none from the cache',
    ],
    ['Success', runs === 0 ? '–' : formatPercent(1 - failed / runs), `${formatCount(failed)} failed`],
    duration ?? ['Average run time', average === null ? '–' : formatDuration(average), 'without waiting'],
    ['Tokens', formatCompact(inputTokens + outputTokens), `${formatCompact(outputTokens)} of them output`],
    [
      'Cost',
      formatCost(costUsd),
      unpricedRuns > 0
        ? `without ${formatCountOf(unpricedRuns, 'run')} of unknown price`
        : 'of model responses',
    ],
  ]
  return (
    <dl class="totals">
      {figures.map(([name, value, detail]) => (
        <div key={name} class="card">
          <dt>{name}</dt>
          <dd class="total">{value}</dd>
          <dd class="muted">{detail}</dd>
        </div>
      ))}
    </dl>
  )
}

type ChartOf = {
  title: string
  label: string
  series: Series[]
  valuesOf: (totals: Totals, rows: UsageRowRecord[]) => number[]
  format: (value: number) => string
  /** Of the runs that a bar leads to. */
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
        (version, index): Series => ({
          name: nameOfVersion(version),
          color: VERSION_COLORS[index] ?? 4,
        }),
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

function Charts({ usage: { items, now }, period, of, agent }: PartProps) {
  const parts = partsOf(period, now, items).map((part) => ({
    ...part,
    label: formatPart(period, part.from, now),
    totals: addUp(part.rows),
  }))
  const middle = parts[Math.floor(parts.length / 2)]
  const last = spanOf(period, now).to === null ? 'now' : parts.at(-1)?.label
  const charts = agent ? CHARTS.with(2, costByVersion(items, agent.versions)) : CHARTS
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
          mark: agent && promotedIn(agent.versions, { from, to }),
        }))}
      />
    </Card>
  ))
}

function ErrorCodes({ usage: { items, now }, period, of }: PartProps) {
  const errors = countErrors(items)
  return (
    <Card title="Errors by code">
      {errors.length === 0 && <p class="muted">No run failed in this time.</p>}
      <Ranking
        color={3}
        items={errors.map(({ code, count }) => ({
          key: code,
          name: (
            <a href={toRuns({ status: 'ERROR', errorCode: code, ...of, ...spanOf(period, now) })}>
              <VisibleText text={code} class="mono" />
            </a>
          ),
          value: count,
          text: formatCount(count),
        }))}
      />
    </Card>
  )
}
