import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import { Table } from '../components/data/table.tsx'
import { AgentLink } from '../components/values/agent-link.tsx'
import { Duration } from '../components/values/duration.tsx'
import { formatCost, formatCount, formatPercent } from '../format/numbers.ts'
import { sumUpByAgent } from './statistics.ts'

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
