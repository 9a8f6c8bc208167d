import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { useAgentList } from '../agents/agent-list.ts'
import { formatCountOf, formatPercent } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card, ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import { Spark } from '../components/small-charts.tsx'
import { AgentLink, Elapsed, Time, VersionLink } from '../components/values.tsx'
import { say } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { mayAudit, useMayManage, useMe } from '../state/session.ts'
import { addUp } from '../usage/totals.ts'
import { EndButton } from './rollout-card.tsx'
import { RolloutBar, type RolloutUsage, rowsOf, totalsOf, useRolloutUsage } from './rollout-figures.tsx'

export const RolloutsPage = () => (
  <Page title="Rollouts">
    <NeedsScope scope="read">
      <div class="stack">
        <p class="muted">
          A rollout gives a part of an agent's runs another version than the current one. The page of an agent
          starts, changes and ends it.
        </p>
        <Rollouts />
      </div>
    </NeedsScope>
  </Page>
)

type Row<Name extends 'rollout' | 'abortedRollout'> = Pick<AgentRecord, 'id' | 'slug' | 'currentVersionId'> &
  NonNullable<AgentRecord[Name]>

/** Agents that have one, with it: the newest first. */
function listed<Name extends 'rollout' | 'abortedRollout'>(
  agents: AgentRecord[],
  name: Name,
  timeOf: (row: Row<Name>) => string,
): Row<Name>[] {
  const rows = agents.flatMap(({ id, slug, currentVersionId, [name]: rollout }): Row<Name>[] =>
    rollout ? [{ ...rollout, id, slug, currentVersionId }] : [],
  )
  return rows.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
}

type Running = Row<'rollout'>

/** `2% of 120 runs` */
function rateOf(usage: RolloutUsage, { startedAt }: Running, versionId: string): string {
  const { runs, failed } = totalsOf(usage, { startedAt, versionId })
  return runs === 0 ? 'no run yet' : `${formatPercent(failed / runs)} of ${formatCountOf(runs, 'run')}`
}

const PARTS = 24

/** What the version has run since the rollout started, in equal parts of the time. */
function sparkOf(usage: RolloutUsage, rollout: Running): [number, number][] {
  const begin = Date.parse(rollout.startedAt)
  const lengthMs = Math.max(Date.now() - begin, 1)
  const partOf = ({ start }: UsageRowRecord) =>
    Math.min(Math.max(Math.floor((PARTS * (Date.parse(start) - begin)) / lengthMs), 0), PARTS - 1)
  const parts = Map.groupBy(rowsOf(usage, rollout), partOf)
  return Array.from({ length: PARTS }, (_, index) => {
    const { runs, failed } = addUp(parts.get(index) ?? [])
    return [runs - failed, failed]
  })
}

function Rollouts() {
  const me = useMe()
  const mayManage = useMayManage()
  const { items: agents, isLoading, error, retry, reload } = useAgentList(true)
  const agentOf = (id: string) => agents.find((agent) => agent.id === id) as AgentRecord
  const running = listed(agents, 'rollout', ({ startedAt }) => startedAt)
  const { data: usage } = useRolloutUsage(running.at(-1)?.startedAt)
  const aborted = listed(agents, 'abortedRollout', ({ at }) => at)
  if (error && agents.length === 0) return <ErrorBox error={error} onRetry={retry} />
  if (isLoading) return <Spinner label="Loading rollouts…" />
  return (
    <div class="stack">
      {error && <ErrorBox error={error} onRetry={retry} />}
      <Card title={`In progress: ${formatCountOf(running.length, 'rollout')}`} class="stack">
        {running.length === 0 ? (
          <p class="empty">
            No agent has a rollout. Start one on the page of an <a href="#/agents">agent</a> with a draft, or
            an older version.
          </p>
        ) : (
          <ItemTable
            caption="Rollouts in progress, newest first"
            items={running}
            columns={{
              Agent: ({ id }) => <AgentLink agentId={id} />,
              Version: ({ slug, versionId, currentVersionId }) => (
                <>
                  <VersionLink agent={slug} versionId={versionId} />
                  {currentVersionId && say` for ${<VersionLink agent={slug} versionId={currentVersionId} />}`}
                </>
              ),
              Share: ({ percent, key }) => (
                <>
                  <RolloutBar percent={percent} />
                  {percent}% of the {key === 'tenant' ? 'tenants' : 'runs'}
                </>
              ),
              Running: ({ startedAt }) => <Elapsed since={startedAt} />,
              Runs: (row) => usage && <Spark values={sparkOf(usage, row)} />,
              Failed: (row) => usage && rateOf(usage, row, row.versionId),
              'Of the current one': (row) =>
                usage && row.currentVersionId && rateOf(usage, row, row.currentVersionId),
              End: {
                actions: ({ id }) => (
                  <EndButton agent={agentOf(id)} isOffered={mayManage} onChange={reload} />
                ),
              },
            }}
          />
        )}
      </Card>
      <Card title="Ended" class="stack">
        {aborted.length > 0 && (
          <ItemTable
            caption="The last rollout of each agent that the service has ended, newest first"
            items={aborted}
            columns={{
              Agent: ({ id }) => <AgentLink agentId={id} />,
              Version: ({ slug, versionId }) => <VersionLink agent={slug} versionId={versionId} />,
              'Ended by the service': ({ at }) => <Time value={at} />,
              Why: ({ slug }) => <a href={toHref(toPath('agents', slug))}>On the page of the agent</a>,
            }}
          />
        )}
        <p class="muted">
          {aborted.length === 0 && 'The service has ended none automatically. '}
          Rollouts that people ended, promoted or replaced are in the{' '}
          {me && mayAudit(me) ? <a href="#/audit">audit log</a> : 'audit log'} of the service.
        </p>
      </Card>
    </div>
  )
}
