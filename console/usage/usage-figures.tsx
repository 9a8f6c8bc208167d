import './usage.css'
import { useEffect } from 'preact/hooks'
import type { VersionRecord } from '../../lib/contract/records/agent.ts'
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
import { Charts } from './charts.tsx'
import { CostByAgent, CostByTenant, Ranking } from './cost-by.tsx'
import { describeSpan, type Period, spanOf, toRuns, type UsageOf } from './periods.ts'
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

type PartProps = { usage: Usage; period: Period; of: UsageOf }
type FiguresProps = PartProps & { isLive: boolean; agent: Props['agent'] }

function Figures({ isLive, agent, ...part }: FiguresProps) {
  const { usage, period } = part
  return (
    <>
      <p class="muted">
        {isLive
          ? `Runs that ended ${describeSpan(period, usage.now)}. Those of the last minutes may be missing.`
          : 'Updates are interrupted: the service does not respond. Trying again…'}
      </p>
      <TotalsCards totals={addUp(usage.items)} duration={agent?.duration} />
      <div class="charts">
        <Charts {...part} versions={agent?.versions} />
        <ErrorCodes {...part} />
      </div>
    </>
  )
}

function TotalsCards({ totals, duration }: { totals: Totals; duration: Figure | undefined }) {
  const { runs, failed, cacheHits, inputTokens, outputTokens, costUsd, unpricedRuns } = totals
  const average = averageRunTime(totals)
  const unpriced =
    unpricedRuns > 0 ? `without ${formatCountOf(unpricedRuns, 'run')} of unknown price` : 'of model responses'
  const figures: Figure[] = [
    ['Runs', formatCount(runs), `${cacheHits > 0 ? formatCount(cacheHits) : 'none'} from the cache`],
    ['Success', runs === 0 ? '–' : formatPercent(1 - failed / runs), `${formatCount(failed)} failed`],
    duration ?? ['Average run time', average === null ? '–' : formatDuration(average), 'without waiting'],
    ['Tokens', formatCompact(inputTokens + outputTokens), `${formatCompact(outputTokens)} of them output`],
    ['Cost', formatCost(costUsd), unpriced],
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
