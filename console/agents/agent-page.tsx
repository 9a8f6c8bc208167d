import './agent.css'
import type { AgentRecord } from '../../lib/contract/records/agent-record.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Facts } from '../components/data.tsx'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { RolloutCard } from '../rollouts/rollout-card.tsx'
import { SchemaCard } from '../schema/schema-card.tsx'
import { toHref, toPath } from '../state/location.ts'
import { readsAllTenants, useMe } from '../state/session.ts'
import { ArchiveButton } from './archive-button.tsx'
import { RecentRuns } from './recent-runs.tsx'
import { useVersions, VersionList } from './version-list.tsx'

/** One agent: what it takes and returns, how its runs went, and its versions. */
export function AgentPage({ agent: idOrSlug }: { agent: string }) {
  const { data, error, reload, setData } = useResource(idOrSlug, (signal) =>
    requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(idOrSlug)}`, { signal }),
  )
  return (
    <Page
      title={data?.title ?? idOrSlug}
      parent={<a href="#/agents">Agents</a>}
      detail={data && <AgentState agent={data} />}
      actions={
        data && (
          <>
            {data.archivedAt === null && (
              <a class="button primary" href={toHref(toPath('agents', data.slug, 'try'))}>
                Try it
              </a>
            )}
            <ArchiveButton agent={data} onChange={setData} />
          </>
        )
      }
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading the agent…" />}
      {data && <Agent agent={data} onChange={setData} />}
    </Page>
  )
}

function Agent({ agent, onChange }: { agent: AgentRecord; onChange: (agent: AgentRecord) => void }) {
  const versions = useVersions(agent)
  return (
    <div class="stack">
      <AgentFacts agent={agent} />
      <div class="grid">
        <SchemaCard title="Input" schema={agent.inputSchema as JsonObject} />
        <SchemaCard title="Output" schema={agent.outputSchema as JsonObject} />
      </div>
      <RecentRuns agent={agent} />
      <RolloutCard agent={agent} versions={versions.items} onChange={onChange} />
      <VersionList agent={agent} list={versions} />
    </div>
  )
}

function AgentState({ agent }: { agent: AgentRecord }) {
  if (agent.archivedAt !== null) return <span class="badge badge-warning">Archived</span>
  if (agent.currentVersionId === null) return <span class="badge badge-warning">Draft only</span>
  return (
    <>
      {agent.rollout && <span class="badge badge-in_progress">Rollout: {agent.rollout.percent}%</span>}
      {agent.draftVersionId !== null && <span class="badge">Has a draft</span>}
    </>
  )
}

const AgentFacts = ({ agent }: { agent: AgentRecord }) => {
  const me = useMe()
  return (
    <section class="card" aria-label="Facts">
      {agent.description !== null && (
        <p class="agent-description">
          <VisibleText text={agent.description} />
        </p>
      )}
      <Facts
        facts={{
          Slug: <VisibleText text={agent.slug} class="mono" />,
          'Current version': agent.currentVersionId !== null && (
            <VersionLink agent={agent.slug} versionId={agent.currentVersionId} />
          ),
          Draft: agent.draftVersionId !== null && (
            <VersionLink agent={agent.slug} versionId={agent.draftVersionId} />
          ),
          // Its place is kept until it is known whether the token may see them.
          Schedules: (me === null || readsAllTenants(me)) && (
            <a href={toHref('/schedules', { agent: agent.slug })}>Schedules of this agent</a>
          ),
          ID: (
            <>
              <code>{agent.id}</code> <CopyButton text={agent.id} subject="the ID" />
            </>
          ),
          Created: <Time value={agent.createdAt} />,
          Updated: <Time value={agent.updatedAt} />,
          Archived: agent.archivedAt !== null && <Time value={agent.archivedAt} />,
        }}
      />
    </section>
  )
}
