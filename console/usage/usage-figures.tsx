import './usage.css'
import { useEffect } from 'preact/hooks'
import { BarChart, type Series } from '../components/bar-chart.tsx'
import { Card } from '../components/data.tsx'
import { Loaded } from '../components/detail-page.tsx'
import {
  formatCompact,
  formatCost,
  formatCount,
  formatCountOf,
  formatDuration,
  formatPercent,
} from '../components/format.ts'
import type { Period } from '../components/range.ts'
import { VisibleText } from '../components/visible-text.tsx'
import { useMe } from '../state/session.ts'
import { CostByAgent, CostByTenant, Ranking } from './cost-by.tsx'
import { formatPart, formatStart, partsOf, startOfPeriod, toRuns } from './periods.ts'
import { addUp, averageRunTime, countErrors, type Totals } from './totals.ts'
import { type Usage, useUsage } from './use-usage.ts'

type Props = {
  period: Period
  /** Of all tenants without. */
  tenantId?: string
  /** Called with the totals whenever they are loaded. */
  onLoad?: (totals: Totals) => void
}

/** What ran in a period that ends now, what it cost, and for whom. Everything leads to its runs. */
export function UsageFigures({ period, tenantId, onLoad }: Props) {
  const resource = useUsage(period, { tenantId })
  const { data, isLive } = resource
  const boundTenant = useMe()?.tenantId ?? null
  useEffect(() => {
    if (data) onLoad?.(addUp(data.items))
  }, [data])
  return (
    <>
      <Loaded of={resource} label="Loading usage…">
        {(usage) => <Figures {...{ usage, period, tenantId, isLive }} />}
      </Loaded>
      {/* They load at the same time. */}
      <div class="grid" hidden={!data}>
        <CostByAgent period={period} tenantId={tenantId} />
        {tenantId === undefined && boundTenant === null && <CostByTenant period={period} />}
      </div>
    </>
  )
}

function Figures({ usage, period, tenantId, isLive }: PartProps & { isLive: boolean }) {
  const totals = addUp(usage.items)
  return (
    <>
      <p class="muted note">
        {isLive
          ? `Runs that ended since ${formatStart(period, usage.now)}. Those of the last minutes may be missing.`
          : 'Updates are interrupted: the service does not respond. Trying again…'}
      </p>
      <TotalsCards totals={totals} />
      <div class="charts">
        <Charts usage={usage} period={period} tenantId={tenantId} />
        <ErrorCodes usage={usage} period={period} tenantId={tenantId} />
      </div>
    </>
  )
}

function TotalsCards({ totals }: { totals: Totals }) {
  const { runs, failed, cacheHits, inputTokens, outputTokens, costUsd, unpricedRuns } = totals
  const average = averageRunTime(totals)
  const figures: [name: string, value: string, detail: string][] = [
    [
      'Runs',
      formatCount(runs),
      cacheHits > 0 ? `${formatCount(cacheHits)} from the cache` : 'none from the cache',
    ],
    ['Success', runs === 0 ? '–' : formatPercent(1 - failed / runs), `${formatCount(failed)} failed`],
    ['Average run time', average === null ? '–' : formatDuration(average), 'without waiting'],
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
  valuesOf: (totals: Totals) => number[]
  format: (value: number) => string
  /** Of the runs that a bar leads to. */
  status?: 'ERROR'
}

const CHARTS: ChartOf[] = [
  {
    title: 'Runs over time',
    label: 'Runs by the time of their end',
    series: [
      { name: 'Success', color: 2 },
      { name: 'Error', color: 3 },
    ],
    valuesOf: ({ runs, failed }) => [runs - failed, failed],
    format: formatCount,
  },
  {
    title: 'Errors over time',
    label: 'Failed runs by the time of their end',
    series: [{ name: 'Errors', color: 3 }],
    valuesOf: ({ failed }) => [failed],
    format: formatCount,
    status: 'ERROR',
  },
  {
    title: 'Cost over time',
    label: 'Cost of model responses by the time at which the runs ended',
    series: [{ name: 'Cost', color: 1 }],
    valuesOf: ({ costUsd }) => [costUsd],
    format: formatCost,
  },
  {
    title: 'Tokens over time',
    label: 'Tokens by the time at which the runs ended',
    series: [{ name: 'Tokens', color: 1 }],
    valuesOf: ({ inputTokens, outputTokens }) => [inputTokens + outputTokens],
    format: formatCompact,
  },
]

type PartProps = { usage: Usage; period: Period; tenantId: string | undefined }

function Charts({ usage: { items, now }, period, tenantId }: PartProps) {
  const parts = partsOf(period, now, items).map((part) => ({
    ...part,
    label: formatPart(period, part.from, now),
    totals: addUp(part.rows),
  }))
  const middle = parts[Math.floor(parts.length / 2)]
  return CHARTS.map(({ title, label, series, valuesOf, format, status }) => (
    <Card key={title} title={title}>
      <BarChart
        {...{ label, series, format }}
        axis="From"
        ticks={[parts[0]?.label, middle?.label, 'now']}
        bars={parts.map(({ from, to, label: start, totals }) => ({
          label: start,
          values: valuesOf(totals),
          href: toRuns({ status, tenantId, from, to }),
        }))}
      />
    </Card>
  ))
}

function ErrorCodes({ usage: { items, now }, period, tenantId }: PartProps) {
  const from = startOfPeriod(period, now)
  const errors = countErrors(items)
  return (
    <Card title="Errors by code" class="error-codes">
      {errors.length === 0 && <p class="muted">No run failed in this time.</p>}
      <Ranking
        items={errors.map(({ code, count }) => ({
          key: code,
          name: (
            <a href={toRuns({ status: 'ERROR', errorCode: code, tenantId, from })}>
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
