import './agent.css'
import type { AgentRecord } from '../../lib/api/schemas/agent-record.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Facts } from '../components/data.tsx'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { SchemaTable } from '../schema/schema-table.tsx'
import { toHref, toPath } from '../state/location.ts'
import { RecentRuns } from './recent-runs.tsx'
import { VersionList } from './version-list.tsx'

/** One agent: what it takes and returns, how its runs went, and its versions. */
export function AgentPage({ agent: idOrSlug }: { agent: string }) {
  const { data, error, reload } = useResource(idOrSlug, (signal) =>
    requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(idOrSlug)}`, { signal }),
  )
  return (
    <Page
      title={data?.title ?? idOrSlug}
      parent={<a href="#/agents">Agents</a>}
      detail={data && <AgentState agent={data} />}
      actions={
        data &&
        data.archivedAt === null && (
          <a class="button primary" href={toHref(toPath('agents', data.slug, 'try'))}>
            Try it
          </a>
        )
      }
    >
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading the agent…" />}
      {data && (
        <div class="stack">
          <AgentFacts agent={data} />
          <div class="grid">
            <SchemaCard title="Input" schema={data.inputSchema as JsonObject} />
            <SchemaCard title="Output" schema={data.outputSchema as JsonObject} />
          </div>
          <RecentRuns agent={data} />
          <VersionList agent={data} />
        </div>
      )}
    </Page>
  )
}

function AgentState({ agent }: { agent: AgentRecord }) {
  if (agent.archivedAt !== null) return <span class="badge badge-warning">Archived</span>
  if (agent.currentVersionId === null) return <span class="badge badge-warning">Draft only</span>
  return agent.draftVersionId === null ? null : <span class="badge">Has a draft</span>
}

const AgentFacts = ({ agent }: { agent: AgentRecord }) => (
  <section class="card" aria-label="Facts">
    {agent.description !== null && <p class="agent-description">{agent.description}</p>}
    <Facts
      facts={{
        Slug: <code>{agent.slug}</code>,
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

const SchemaCard = ({ title, schema }: { title: string; schema: JsonObject }) => (
  <section class="card" aria-label={`${title} schema`}>
    <div class="toolbar">
      <h2>{title}</h2>
      <CopyButton
        text={() => JSON.stringify(schema, null, 2)}
        label="Copy schema"
        subject={`of the ${title}`}
      />
    </div>
    <SchemaTable schema={schema} caption={`Fields of the ${title.toLowerCase()}`} />
  </section>
)
