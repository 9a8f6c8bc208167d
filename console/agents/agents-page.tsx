import './agents.css'
import { useMemo, useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/api/schemas/agent-record.ts'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { type AgentList, searchAgents, useAgentList } from './agent-list.ts'

/** With more agents, users search. */
const SHOWN = 100

/** All agents. The search is in the URL. */
export function AgentsPage({ query }: { query: URLSearchParams }) {
  const search = query.get('search') ?? ''
  const list = useAgentList()
  const found = useMemo(() => searchAgents(list.agents, search), [list.agents, search])
  return (
    <Page title="Agents">
      <search class="agents-search">
        <label for="agents-search">Search</label>
        <input
          id="agents-search"
          type="search"
          value={search}
          placeholder="Title, slug or description"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="agents-count"
          onInput={({ currentTarget }) =>
            navigate(toHref('/agents', { search: currentTarget.value }), { replace: true })
          }
        />
        <p id="agents-count" class="muted" role="status">
          {countOf(list, found.length, search)}
        </p>
      </search>
      {found.length > 0 && <AgentRows key={search} agents={found} />}
      {list.error && <ErrorBox error={list.error} onRetry={list.retry} />}
      {!list.isComplete && !list.error && list.agents.length === 0 && <Spinner label="Loading agents…" />}
      {list.isComplete && found.length === 0 && <NoAgents search={search} />}
    </Page>
  )
}

function countOf({ agents, isComplete, error }: AgentList, found: number, search: string): string {
  if (agents.length === 0) return ''
  const all = formatCountOf(agents.length, 'agent')
  const counted = search.trim() === '' ? all : `${formatCount(found)} of ${all}`
  return isComplete || error ? counted : `${counted} so far…`
}

function AgentRows({ agents }: { agents: AgentRecord[] }) {
  const [shown, setShown] = useState(SHOWN)
  return (
    <>
      <ul class="agents">
        {agents.slice(0, shown).map((agent) => (
          <li key={agent.id} class="card">
            <h2>
              <a href={toHref(toPath('agents', agent.slug))}>{agent.title}</a>{' '}
              <code class="muted">{agent.slug}</code>
            </h2>
            {agent.description !== null && <p>{agent.description}</p>}
            <div class="agents-facts muted">
              {agent.currentVersionId === null && <span class="badge badge-warning">Draft only</span>}
              {agent.currentVersionId !== null && agent.draftVersionId !== null && (
                <span class="badge">Has a draft</span>
              )}
              <span>
                Updated <Time value={agent.updatedAt} />
              </span>
              <a href={toHref(toPath('agents', agent.slug, 'try'))}>
                Try it<span class="visually-hidden">: {agent.title}</span>
              </a>
            </div>
          </li>
        ))}
      </ul>
      {agents.length > shown && (
        <p class="agents-more">
          <button type="button" onClick={() => setShown(shown + SHOWN)}>
            Show {formatCount(Math.min(SHOWN, agents.length - shown))} more
          </button>
        </p>
      )}
    </>
  )
}

const NoAgents = ({ search }: { search: string }) => (
  <p class="empty">
    {search.trim() === '' ? (
      <>
        There are no agents yet. Publish one with <code>npm run agents -- publish &lt;folder&gt;</code>.
      </>
    ) : (
      'No agent matches this search.'
    )}
  </p>
)
