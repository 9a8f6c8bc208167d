import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage.ts'
import { INTERVAL_MS, type UsageInterval } from '../../lib/core/usage.ts'
import { useResource } from '../api/use-resource.ts'
import { formatCost, formatCount, formatDuration, formatPercent } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { ErrorBox } from '../components/page.tsx'
import { PartsBar } from '../components/small-charts.tsx'
import { Time, VersionLink } from '../components/values.tsx'
import { addUp, averageRunTime, type Totals } from '../usage/totals.ts'
import { loadUsage } from '../usage/use-usage.ts'

/** The shortest totals that the API returns for the whole time. `from`: when the first of them begins. */
export function intervalSince(startedAt: string, now: number): { interval: UsageInterval; from: string } {
  const started = Date.parse(startedAt)
  const age = now - started
  const interval = age < 2.9 * INTERVAL_MS.hour ? 'minute' : age < 30 * INTERVAL_MS.day ? 'hour' : 'day'
  const length = INTERVAL_MS[interval]
  return { interval, from: new Date(Math.floor(started / length) * length).toISOString() }
}

export type RolloutUsage = { items: UsageRow[]; interval: UsageInterval; from: string }

/** The usage of all versions, or of those of an agent, since a rollout started. @param startedAt undefined: none has */
export const useRolloutUsage = (startedAt: string | undefined, agent?: string) =>
  useResource(
    `${agent} ${startedAt}`,
    async (signal): Promise<RolloutUsage | null> => {
      if (startedAt === undefined) return null
      const since = intervalSince(startedAt, Date.now())
      const { items } = await loadUsage({ agent, groupBy: 'version', ...since }, signal)
      return { items, ...since }
    },
    { everyMs: () => 60_000, watch: () => null },
  )

type Rollout = { startedAt: string; versionId: string }

/** The usage of a version since the interval in which its rollout started. */
export const rowsOf = ({ items, interval }: RolloutUsage, { startedAt, versionId }: Rollout): UsageRow[] =>
  items.filter(
    (row) =>
      row.versionId === versionId && Date.parse(row.start) + INTERVAL_MS[interval] > Date.parse(startedAt),
  )

export const totalsOf = (usage: RolloutUsage, rollout: Rollout): Totals => addUp(rowsOf(usage, rollout))

export function RolloutFigures({ agent }: { agent: AgentRecord }) {
  const { rollout, currentVersionId } = agent
  const { data, error, reload } = useRolloutUsage(rollout?.startedAt, agent.id)
  if (!rollout || currentVersionId === null) return null
  const sides = [
    { label: 'Rolled out', versionId: rollout.versionId },
    { label: 'Current', versionId: currentVersionId },
  ].map((side) => ({ ...side, totals: data && totalsOf(data, { ...rollout, ...side }) }))
  return (
    <>
      {error && <ErrorBox error={error} onRetry={reload} />}
      <ItemTable
        caption="Runs of both versions during the rollout"
        items={sides}
        keyOf={({ versionId }) => versionId}
        columns={{
          Version: ({ label, versionId }) => (
            <>
              {label} <VersionLink agent={agent.slug} versionId={versionId} />
            </>
          ),
          Runs: figure(({ runs }) => formatCount(runs)),
          Failed: figure(
            ({ runs, failed }) => runs > 0 && `${formatCount(failed)} (${formatPercent(failed / runs)})`,
          ),
          'Cost of a run': figure(costOf),
          Duration: figure(formatAverage),
        }}
      />
      <p class="muted">
        Runs that ended since <Time value={(data ?? intervalSince(rollout.startedAt, Date.now())).from} />,
        usually counted within two minutes. Rules leave out what does not follow from a version, such as
        cancelled runs.
      </p>
    </>
  )
}

const figure = (read: (totals: Totals) => string | false) => ({
  numeric: ({ totals }: { totals: Totals | null }) => (totals ? read(totals) : '…'),
})

function costOf({ runs, cacheHits, unpricedRuns, costUsd }: Totals) {
  const priced = runs - cacheHits - unpricedRuns
  return priced > 0 && formatCost(costUsd / priced)
}

function formatAverage(totals: Totals) {
  const average = averageRunTime(totals)
  return average !== null && formatDuration(average)
}

/** A picture of the share, which is beside it as text. */
export const RolloutBar = ({ percent }: { percent: number }) => (
  <PartsBar parts={[{ size: percent, color: 'var(--series-1)' }]} total={100} />
)
