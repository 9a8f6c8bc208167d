import './agents.css'
import { useMemo, useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { Segments } from '../components/data.tsx'
import { SearchField } from '../components/field.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'
import { Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { type AgentList, searchAgents, useAgentList } from './agent-list.ts'

/** With more agents, users search. */
const SHOWN = 100

type Shown = 'active' | 'archived'

const SHOWN_AGENTS: Record<Shown, string> = { active: 'Active', archived: 'Archived' }

/** The agents that are active, or those that are archived. The choice and the search are in the URL. */
export function AgentsPage({ query }: { query: URLSearchParams }) {
  const search = query.get('search') ?? ''
  const shown: Shown = query.get('show') === 'archived' ? 'archived' : 'active'
  return (
    <Page
      title="Agents"
      actions={
        <Segments
          label="Which agents"
          choices={SHOWN_AGENTS}
          chosen={shown}
          onChoose={(name) => navigate(hrefOf(name, search))}
        />
      }
    >
      <Agents key={shown} shown={shown} search={search} />
    </Page>
  )
}

const hrefOf = (shown: Shown, search: string): string =>
  toHref('/agents', { show: shown === 'archived' ? shown : null, search })

function Agents({ shown, search }: { shown: Shown; search: string }) {
  const all = useAgentList(shown === 'archived')
  const list = useMemo(() => only(all, shown), [all.agents, all.isComplete, all.error, shown])
  const found = useMemo(() => searchAgents(list.agents, search), [list.agents, search])
  return (
    <>
      <search class="agents-search">
        <SearchField
          value={search}
          placeholder="Title, slug or description"
          describedBy="agents-count"
          onInput={(text) => navigate(hrefOf(shown, text), { replace: true })}
        />
        <p id="agents-count" class="muted" role="status">
          {countOf(list, found.length, search)}
        </p>
      </search>
      {found.length > 0 && <AgentRows key={search} agents={found} />}
      {list.error && <ErrorBox error={list.error} onRetry={list.retry} />}
      {!list.isComplete && !list.error && list.agents.length === 0 && <Spinner label="Loading agents…" />}
      {list.isComplete && found.length === 0 && <NoAgents shown={shown} search={search} />}
    </>
  )
}

/** The API lists archived agents among the others. */
const only = (list: AgentList, shown: Shown): AgentList => ({
  ...list,
  agents: list.agents.filter(({ archivedAt }) => (archivedAt !== null) === (shown === 'archived')),
})

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
              <a href={toHref(toPath('agents', agent.slug))}>
                <VisibleText text={agent.title} />
              </a>{' '}
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

const NoAgents = ({ shown, search }: { shown: Shown; search: string }) => (
  <p class="empty">
    {search.trim() !== '' ? (
      'No agent matches this search.'
    ) : shown === 'archived' ? (
      'No agent is archived. The page of an agent archives it, for tokens that may manage.'
    ) : (
      <>
        There are no agents yet. Publish one with <code>npm run agents -- publish &lt;folder&gt;</code>.
      </>
    )}
  </p>
)
