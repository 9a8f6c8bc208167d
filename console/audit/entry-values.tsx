import { isUuid } from '../../lib/core/ids.ts'
import { LONGEST_CHANGE_MS } from '../../lib/core/limits.ts'
import { AgentLink, Badge, RunLink, useNow } from '../components/values.tsx'
import { say, toVisible, VisibleText } from '../components/visible-text.tsx'
import { useMe, useScope } from '../state/session.ts'
import { type Entry, KIND_LABELS, nameOf, shorten, targetHref } from './audit.ts'

export function Target({ entry }: { entry: Entry }) {
  const { kind, id, agentId, executionId } = entry.target
  return (
    <>
      <span class="muted">{KIND_LABELS[kind] ?? kind}</span> <TargetName entry={entry} />
      {agentId !== undefined && say` of ${<AgentName agentId={agentId} />}`}
      {executionId !== undefined && id !== null && say` of run ${<RunLink executionId={executionId} />}`}
    </>
  )
}

function TargetName({ entry }: { entry: Entry }) {
  const { kind, id } = entry.target
  const href = targetHref(entry)
  if (id === null) return <span title="Nothing was created.">–</span>
  if (kind === 'agent' && href !== null) return <AgentName agentId={id} />
  const text = <VisibleText text={shorten(id)} class={shorten(id) === id ? undefined : 'mono'} />
  return href === null ? (
    <span title={toVisible(id)}>{text}</span>
  ) : (
    <a href={href} title={toVisible(id)}>
      {text}
    </a>
  )
}

/** By its title, if the token may read it. Requests can name what is no agent. */
function AgentName({ agentId }: { agentId: string }) {
  const mayRead = useScope('read')
  return mayRead && isUuid(agentId) ? (
    <AgentLink agentId={agentId} />
  ) : (
    <VisibleText text={shorten(agentId)} />
  )
}

export function ActorName({ actor }: { actor: Entry['actor'] }) {
  const me = useMe()
  return (
    <span title={toVisible(actor.id)}>
      <VisibleText text={nameOf(actor)} />
      {actor.id === me?.tokenId && <span class="muted"> (you)</span>}
    </span>
  )
}

export function ResultBadge({ entry }: { entry: Entry }) {
  const { result, error = 'Failed' } = entry
  if (result === 'STARTED') return <StartedBadge at={entry.at} />
  const isFailed = result === 'FAILED'
  return (
    <Badge kind={isFailed ? 'error' : 'success'}>
      {isFailed ? (
        <span class="badge-code">
          <span class="visually-hidden">Failed: </span>
          <VisibleText text={error} />
        </span>
      ) : (
        'Succeeded'
      )}
    </Badge>
  )
}

function StartedBadge({ at }: { at: string }) {
  const isOpen = useNow() - Date.parse(at) < LONGEST_CHANGE_MS
  return <Badge kind={isOpen ? 'in_progress' : 'warning'}>{isOpen ? 'In progress' : 'Outcome unknown'}</Badge>
}
