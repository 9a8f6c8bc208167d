import './rollouts.css'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { useAgentList } from '../agents/agent-list.ts'
import { Card, Table } from '../components/data.tsx'
import { formatCountOf } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import { AgentLink, Elapsed, Time, VersionLink } from '../components/values.tsx'
import { toHref, toPath } from '../state/location.ts'
import { mayAudit, useMe } from '../state/session.ts'
import { RolloutBar } from './rollout-bar.tsx'

/** The rollouts of all agents: those in progress, and the last one of each agent that the service has ended. */
export const RolloutsPage = () => (
  <Page title="Rollouts">
    <NeedsScope scope="read">
      <div class="stack">
        <p class="muted note">
          A rollout gives a part of an agent's runs another version than the current one. The page of an agent
          starts, changes and ends it.
        </p>
        <Rollouts />
      </div>
    </NeedsScope>
  </Page>
)

type WithRollout = AgentRecord & { rollout: NonNullable<AgentRecord['rollout']> }
type WithAborted = AgentRecord & { abortedRollout: NonNullable<AgentRecord['abortedRollout']> }

const hasRollout = (agent: AgentRecord): agent is WithRollout => agent.rollout !== null
const hasAborted = (agent: AgentRecord): agent is WithAborted => agent.abortedRollout !== undefined

/** Newest first. */
const byTime = (a: string, b: string): number => (a < b ? 1 : -1)

function Rollouts() {
  const me = useMe()
  const { agents, isComplete, error, retry } = useAgentList(true)
  const running = agents
    .filter(hasRollout)
    .toSorted((a, b) => byTime(a.rollout.startedAt, b.rollout.startedAt))
  const aborted = agents
    .filter(hasAborted)
    .toSorted((a, b) => byTime(a.abortedRollout.at, b.abortedRollout.at))
  if (error && agents.length === 0) return <ErrorBox error={error} onRetry={retry} />
  if (!isComplete && !error) return <Spinner label="Loading rollouts…" />
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
          <Running agents={running} />
        )}
      </Card>
      <Card title="Ended" class="stack">
        {aborted.length > 0 && <Aborted agents={aborted} />}
        <p class="muted note">
          {aborted.length === 0 && 'The service has ended none automatically. '}
          Rollouts that people ended, promoted or replaced are in the{' '}
          {me && mayAudit(me) ? <a href="#/audit">audit log</a> : 'audit log'} of the service.
        </p>
      </Card>
    </div>
  )
}

const Running = ({ agents }: { agents: WithRollout[] }) => (
  <Table
    caption="Rollouts in progress, newest first"
    columns={['Agent', 'Version', 'Current', 'Share', 'Of', 'For', 'Changed']}
  >
    {agents.map(
      ({ id, slug, currentVersionId, rollout: { versionId, percent, key, startedAt, updatedAt } }) => (
        <tr key={id} class="rollout-row">
          <th scope="row">
            <AgentLink agentId={id} />
          </th>
          <td>
            <VersionLink agent={slug} versionId={versionId} />
          </td>
          <td>{currentVersionId !== null && <VersionLink agent={slug} versionId={currentVersionId} />}</td>
          <td class="rollout-share">
            <RolloutBar percent={percent} />
            {percent}%
          </td>
          <td>{key === 'tenant' ? 'tenants' : 'runs'}</td>
          <td>
            <Elapsed since={startedAt} />
          </td>
          <td>{updatedAt === startedAt ? '–' : <Time value={updatedAt} />}</td>
        </tr>
      ),
    )}
  </Table>
)

const Aborted = ({ agents }: { agents: WithAborted[] }) => (
  <Table
    caption="The last rollout of each agent that the service has ended, newest first"
    columns={['Agent', 'Version', 'Ended by the service', 'Why']}
  >
    {agents.map(({ id, slug, abortedRollout: { versionId, at } }) => (
      <tr key={id}>
        <th scope="row">
          <AgentLink agentId={id} />
        </th>
        <td>
          <VersionLink agent={slug} versionId={versionId} />
        </td>
        <td>
          <Time value={at} />
        </td>
        <td>
          <a href={toHref(toPath('agents', slug))}>On the page of the agent</a>
        </td>
      </tr>
    ))}
  </Table>
)
