import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import { Table } from '../components/data.tsx'
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from '../components/format.ts'
import { AgentLink, Duration } from '../components/values.tsx'
import { durationsOf, percentile, sumUpByAgent, type Totals as TotalsOf } from './statistics.ts'

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
      `p95 ${p95 === null ? '–' : formatDuration(p95)}`,
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

const NUMERIC = ['Runs', 'Success', 'Median duration', 'Tokens', 'Cost']

/** The recent runs by agent. */
export function AgentTable({ runs }: { runs: ExecutionSummaryRecord[] }) {
  const agents = sumUpByAgent(runs)
  if (agents.length === 0) return null
  return (
    <Table
      caption="Recent runs by agent"
      columns={['Agent', ...NUMERIC.map((label) => ({ label, isNumeric: true }))]}
    >
      {agents.map((agent) => {
        const ended = agent.succeeded + agent.failed
        return (
          <tr key={agent.agentId}>
            <th scope="row">
              <AgentLink agentId={agent.agentId} />
            </th>
            <td class="numeric">{formatCount(agent.runs)}</td>
            <td class="numeric">{ended === 0 ? '–' : formatPercent(agent.succeeded / ended)}</td>
            <td class="numeric">
              <Duration ms={agent.medianMs} />
            </td>
            <td class="numeric">{formatCount(agent.inputTokens + agent.outputTokens)}</td>
            <td class="numeric">{formatCost(agent.costUsd)}</td>
          </tr>
        )
      })}
    </Table>
  )
}
