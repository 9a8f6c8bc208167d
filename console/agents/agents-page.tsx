import './agents.css'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { requestPage } from '../api/request.ts'
import type { List } from '../api/use-list.ts'
import { useResource } from '../api/use-resource.ts'
import { type Outcome, Outcomes, Spark } from '../components/small-charts.tsx'
import { Time } from '../components/values.tsx'
import { say, Text, TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { type Run, toOutcome } from '../runs/run-list.ts'
import { toHref, toPath } from '../state/location.ts'
import { toSpark, toUsageQuery } from '../usage/periods.ts'
import { loadUsage } from '../usage/use-usage.ts'
import { searchAgents, useAgentList } from './agent-list.ts'

export const AgentsPage = listPage({
  title: 'Agents',
  path: '/agents',
  filters: {
    show: { label: 'Which agents', choices: { active: 'Active', archived: 'Archived' }, default: 'active' },
    search: { label: 'Search', type: 'search', placeholder: 'Title, slug or description' },
  },
  useItems({ show }) {
    const list = useAgentList(show === 'archived')
    const { data } = useResource('activity', loadActivity)
    // The API lists archived agents among the others.
    const isShown = ({ archivedAt }: AgentRecord) => (archivedAt !== null) === (show === 'archived')
    const items = list.items.filter(isShown).map((agent) => ({ ...agent, activity: data?.(agent.id) }))
    return { ...list, items } as List<ListedAgent>
  },
  find: (agents, { search }) => searchAgents(agents, search),
  noun: 'agent',
  caption: 'Agents',
  class: 'stack agents',
  // With more agents, users search.
  shown: 100,
  Item: ({ item }) => <Agent agent={item} />,
  empty: ({ show }) =>
    show === 'archived'
      ? 'No agent is archived. The page of an agent archives it, for tokens that may manage.'
      : say`There are no agents yet. Publish one with ${<code>npx agent-execution publish &lt;folder&gt;</code>}.`,
})

type ListedAgent = AgentRecord & { activity?: { spark: [number, number][]; outcomes: Outcome[] } | undefined }

/** What ran in the last days, and how the newest runs ended: two requests for all agents. @throws ApiError */
async function loadActivity(signal: AbortSignal) {
  const now = Date.now()
  const query = { fields: 'summary', limit: 100 }
  const [usage, runs] = await Promise.all([
    loadUsage(toUsageQuery('7d', now, { groupBy: 'agent' }), signal),
    requestPage<Run>('/v1/agent_executions', { query, signal }),
  ])
  const rowsOf = Map.groupBy(usage.items, ({ agentId }) => agentId)
  const runsOf = Map.groupBy(runs.items, ({ documentId }) => documentId)
  return (id: string) => ({
    spark: toSpark('7d', now, rowsOf.get(id) ?? []),
    outcomes: (runsOf.get(id) ?? []).map(toOutcome),
  })
}

const Agent = ({ agent }: { agent: ListedAgent }) => (
  <li class="card">
    <h2>
      <TextLink href={toHref(toPath('agents', agent.slug))} text={agent.title} />{' '}
      <Text as="code" class="muted" text={agent.slug} />
    </h2>
    {agent.description !== null && <Text text={agent.description} />}
    <div class="actions agents-facts muted">
      {agent.archivedAt !== null && (
        <span>
          Archived <Time value={agent.archivedAt} />
        </span>
      )}
      {agent.currentVersionId === null && <span class="badge badge-warning">Draft only</span>}
      {agent.currentVersionId !== null && agent.draftVersionId !== null && (
        <span class="badge">Has a draft</span>
      )}
      <span>
        Updated <Time value={agent.updatedAt} />
      </span>
      {/* It has its place until it is loaded, so that nothing moves. */}
      <span class="agents-activity" aria-hidden={!agent.activity}>
        7 days <Spark values={agent.activity?.spark ?? []} />
        <Outcomes outcomes={agent.activity?.outcomes ?? []} />
      </span>
      {agent.archivedAt === null && (
        <a href={toHref(toPath('agents', agent.slug, 'try'))}>
          Try it
          <span class="visually-hidden">
            : <VisibleText text={agent.title} />
          </span>
        </a>
      )}
    </div>
  </li>
)
