import './agents.css'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { Time } from '../components/values.tsx'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import { toHref, toPath } from '../state/location.ts'
import { searchAgents, useAgentList } from './agent-list.ts'

/** The agents that are active, or those that are archived. */
export const AgentsPage = listPage({
  title: 'Agents',
  path: '/agents',
  filters: {
    show: { label: 'Which agents', choices: { active: 'Active', archived: 'Archived' }, default: 'active' },
    search: { label: 'Search', type: 'search', placeholder: 'Title, slug or description' },
  },
  useItems({ show }) {
    const list = useAgentList(show === 'archived')
    // The API lists archived agents among the others.
    const isShown = ({ archivedAt }: AgentRecord) => (archivedAt !== null) === (show === 'archived')
    return { ...list, items: list.items.filter(isShown) }
  },
  find: (agents, { search }) => searchAgents(agents, search),
  noun: 'agent',
  caption: 'Agents',
  class: 'stack agents',
  // With more agents, users search.
  shown: 100,
  Item: ({ item }) => <Agent agent={item} />,
  empty: ({ show }) =>
    show === 'archived' ? (
      'No agent is archived. The page of an agent archives it, for tokens that may manage.'
    ) : (
      <>
        There are no agents yet. Publish one with <code>npx agent-execution publish &lt;folder&gt;</code>.
      </>
    ),
})

const Agent = ({ agent }: { agent: AgentRecord }) => (
  <li class="card">
    <h2>
      <TextLink href={toHref(toPath('agents', agent.slug))} text={agent.title} />{' '}
      <code class="muted">
        <VisibleText text={agent.slug} />
      </code>
    </h2>
    {agent.description !== null && (
      <p>
        <VisibleText text={agent.description} />
      </p>
    )}
    <div class="agents-facts muted">
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
