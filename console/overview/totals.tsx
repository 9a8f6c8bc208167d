import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import { formatDuration } from '../format/duration.ts'
import { formatCompact, formatCost, formatCount, formatPercent } from '../format/numbers.ts'
import { durationsOf, percentile, type Totals as TotalsOf } from './statistics.ts'

/** The figures of the recent runs. */
export function Totals({ totals, runs }: { totals: TotalsOf; runs: ExecutionSummaryRecord[] }) {
  const { succeeded, failed, cached, inputTokens, outputTokens, costUsd, unpriced } = totals
  const ended = succeeded + failed
  const durations = durationsOf(runs)
  const [median, p95] = [percentile(durations, 0.5), percentile(durations, 0.95)]
  const figures: [name: string, value: string, detail: string][] = [
    [
      'Runs',
      formatCount(totals.runs),
      cached > 0 ? `${formatCount(cached)} from the cache` : 'none from the cache',
    ],
    ['Success', ended === 0 ? '–' : formatPercent(succeeded / ended), `${formatCount(failed)} failed`],
    [
      'Median duration',
      median === null ? '–' : formatDuration(median),
      `95 %: ${p95 === null ? '–' : formatDuration(p95)}`,
    ],
    ['Tokens', formatCompact(inputTokens + outputTokens), `${formatCompact(outputTokens)} of them output`],
    [
      'Cost',
      formatCost(costUsd),
      unpriced > 0
        ? `without ${formatCount(unpriced)} ${unpriced === 1 ? 'run' : 'runs'} of unknown price`
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
