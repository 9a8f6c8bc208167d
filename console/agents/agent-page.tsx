import './agent.css'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { post } from '../api/request.ts'
import { useRecord } from '../api/use-resource.ts'
import { DetailPage, FactsCard } from '../components/detail-page.tsx'
import { Views } from '../components/filter-bar.tsx'
import { ConfirmButton } from '../components/form-dialog.tsx'
import { CopiedId, Time, VersionLink } from '../components/values.tsx'
import { Text, TextLink, VisibleText } from '../components/visible-text.tsx'
import { RolloutCard } from '../rollouts/rollout-card.tsx'
import { SchemaCard } from '../schema/schema-table.tsx'
import { toHref, toPath } from '../state/location.ts'
import { readsAllTenants, useMayManage, useMe, useScope } from '../state/session.ts'
import { PERIOD_VIEW, type Period, parsePeriod } from '../usage/periods.ts'
import { UsageFigures } from '../usage/usage-figures.tsx'
import { durationFigure, RecentRuns, useNewestRuns } from './recent-runs.tsx'
import { useVersions, VersionList } from './version-list.tsx'

export function AgentPage({ agent: idOrSlug, query }: { agent: string; query: URLSearchParams }) {
  const period = parsePeriod(query)
  const agent = useRecord<AgentRecord>(`/v1/agents/${encodeURIComponent(idOrSlug)}`)
  return (
    <DetailPage
      of={agent}
      label="Loading the agent…"
      title={agent.data?.title ?? idOrSlug}
      parent={<a href="#/agents">Agents</a>}
      detail={(data) => <AgentState agent={data} />}
      actions={(data) => (
        <>
          <Views filters={PERIOD_VIEW} values={{ period }} />
          {data.archivedAt === null && (
            <TextLink
              class="button primary"
              href={toHref(toPath('agents', data.slug, 'try'))}
              text="Try it"
            />
          )}
          <ArchiveButton agent={data} onChange={agent.setData} />
        </>
      )}
    >
      {(data) => <Agent agent={data} period={period} onChange={agent.setData} />}
    </DetailPage>
  )
}

type ArchiveProps = { agent: AgentRecord; onChange: (agent: AgentRecord) => void }

function ArchiveButton({ agent, onChange }: ArchiveProps) {
  const isActive = agent.archivedAt === null
  const change = async (action: 'archive' | 'restore') =>
    onChange(await post<AgentRecord>(`/v1/agents/${agent.id}/${action}`))
  if (!useMayManage()) return null
  return (
    <>
      <ConfirmButton
        label="Archive…"
        class="danger"
        isOffered={isActive}
        asks={{ title: 'Archive this agent?', yes: 'Archive', no: 'Keep it active' }}
        action={() => change('archive')}
        done="The agent is archived."
        text={[
          'Within a second, all new runs of it are refused, also those of schedules and of agents that call it. Lists leave it out. Runs in progress finish, and its history stays readable.',
          'To undo it, restore the agent on this page; the list of agents shows archived ones, too.',
        ]}
      />
      <ConfirmButton
        label="Restore…"
        isOffered={!isActive}
        asks={{ title: 'Restore this agent?', yes: 'Restore', no: 'Keep it archived' }}
        action={() => change('restore')}
        done="The agent is restored."
        text="Runs, versions and schedules work again as before it was archived. To undo it, archive the agent again."
      />
    </>
  )
}

function Agent({ agent, period, onChange }: ArchiveProps & { period: Period }) {
  const versions = useVersions(agent)
  return (
    <>
      <AgentFacts agent={agent} />
      {useScope('read') && <Figures agent={agent} period={period} versions={versions.items} />}
      <RolloutCard agent={agent} versions={versions.items} onChange={onChange} />
      <VersionList agent={agent} list={versions} />
      <div class="grid">
        <SchemaCard title="Input" schema={agent.inputSchema as JsonObject} />
        <SchemaCard title="Output" schema={agent.outputSchema as JsonObject} />
      </div>
    </>
  )
}

type FiguresProps = { agent: AgentRecord; period: Period; versions: VersionRecord[] }

function Figures({ agent, period, versions }: FiguresProps) {
  const runs = useNewestRuns(agent)
  return (
    <>
      <section class="stack agent-usage" aria-label="Usage">
        <UsageFigures
          key={period}
          period={period}
          of={{ agent: agent.slug }}
          agent={{ versions, duration: durationFigure(runs.items) }}
        />
      </section>
      <RecentRuns agent={agent} list={runs} />
    </>
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

function AgentFacts({ agent }: { agent: AgentRecord }) {
  const me = useMe()
  const version = (id: string | null) => id && <VersionLink agent={agent.slug} versionId={id} />
  return (
    <FactsCard
      facts={{
        Slug: <VisibleText text={agent.slug} class="mono" />,
        'Current version': version(agent.currentVersionId),
        Draft: version(agent.draftVersionId),
        // Its place is kept until it is known whether the token may see them.
        Schedules: (me === null || readsAllTenants(me)) && (
          <a href={toHref('/schedules', { agent: agent.slug })}>Schedules of this agent</a>
        ),
        ID: <CopiedId id={agent.id} />,
        Created: <Time value={agent.createdAt} />,
        Updated: <Time value={agent.updatedAt} />,
        Archived: agent.archivedAt && <Time value={agent.archivedAt} />,
      }}
    >
      <Text class="long-text" text={agent.description} />
    </FactsCard>
  )
}
