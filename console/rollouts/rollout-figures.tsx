import type { AgentRecord } from '../../lib/contract/records/agent-record.ts'
import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage-record.ts'
import { INTERVAL_MS, type UsageInterval } from '../../lib/core/usage.ts'
import { usePolling, useResource } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { formatCost, formatCount, formatDuration, formatPercent } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { Time, VersionLink } from '../components/values.tsx'
import { addUp, averageRunTime, type Totals } from '../usage/totals.ts'
import { loadUsage } from '../usage/use-usage.ts'

const POLL_MS = 60_000

/** The shortest totals that the API returns for the whole time. `from`: when the first of them begins. */
export function intervalSince(startedAt: string, now: number): { interval: UsageInterval; from: string } {
  const started = Date.parse(startedAt)
  const age = now - started
  const interval = age < 2.9 * INTERVAL_MS.hour ? 'minute' : age < 30 * INTERVAL_MS.day ? 'hour' : 'day'
  const length = INTERVAL_MS[interval]
  return { interval, from: new Date(Math.floor(started / length) * length).toISOString() }
}

/** What both versions of a rollout have done since it started. */
export function RolloutFigures({ agent }: { agent: AgentRecord }) {
  const { rollout, currentVersionId } = agent
  const load = async (signal?: AbortSignal) => {
    const { interval, from } = intervalSince(rollout?.startedAt ?? '', Date.now())
    const { items } = await loadUsage({ agent: agent.id, groupBy: 'version', interval, from }, signal)
    return { items, from }
  }
  const key = `${agent.id} ${rollout?.versionId} ${rollout?.startedAt}`
  const { data, error, reload, setData } = useResource(key, load)
  usePolling(async () => setData(await load()), key, POLL_MS)
  if (!rollout || currentVersionId === null) return null
  const sides = [
    { label: 'Rolled out', versionId: rollout.versionId },
    { label: 'Current', versionId: currentVersionId },
  ].map((side) => ({ ...side, totals: data && totalsOf(data.items, side.versionId) }))
  return (
    <>
      {error && <ErrorBox error={error} onRetry={reload} />}
      <Table
        caption="Runs of both versions during the rollout"
        columns={[
          'Version',
          ...['Runs', 'Failed', 'Cost of a run', 'Duration'].map((label) => ({ label, isNumeric: true })),
        ]}
      >
        {sides.map(({ label, versionId, totals }) => (
          <tr key={versionId}>
            <th scope="row">
              {label} <VersionLink agent={agent.slug} versionId={versionId} />
            </th>
            <FigureCells totals={totals} />
          </tr>
        ))}
      </Table>
      <p class="muted">
        Runs that ended since{' '}
        {data ? (
          <Time value={data.from} />
        ) : (
          <Time value={intervalSince(rollout.startedAt, Date.now()).from} />
        )}
        , usually counted within two minutes. Rules leave out what does not follow from a version, such as
        cancelled runs.
      </p>
    </>
  )
}

export const totalsOf = (rows: UsageRow[], versionId: string): Totals =>
  addUp(rows.filter((row) => row.versionId === versionId))

function FigureCells({ totals }: { totals: Totals | null }) {
  const cells = totals
    ? [
        formatCount(totals.runs),
        totals.runs === 0
          ? '–'
          : `${formatCount(totals.failed)} (${formatPercent(totals.failed / totals.runs)})`,
        costOf(totals),
        formatAverage(totals),
      ]
    : ['…', '…', '…', '…']
  return (
    <>
      {cells.map((text, index) => (
        <td key={index} class="numeric">
          {text}
        </td>
      ))}
    </>
  )
}

function costOf({ runs, cacheHits, unpricedRuns, costUsd }: Totals): string {
  const priced = runs - cacheHits - unpricedRuns
  return priced > 0 ? formatCost(costUsd / priced) : '–'
}

function formatAverage(totals: Totals): string {
  const average = averageRunTime(totals)
  return average === null ? '–' : formatDuration(average)
}

/** A picture of the share, which is beside it as text. */
export const RolloutBar = ({ percent }: { percent: number }) => (
  <div class="progress" aria-hidden="true">
    <div class="progress-part" style={{ width: `${percent}%` }} />
  </div>
)
