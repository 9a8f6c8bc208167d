import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { useAgent, useTokenName, useVersionName } from '../api/agents.ts'
import { toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { CopyButton } from './button.tsx'
import {
  formatDuration,
  formatExactTime,
  formatNumber,
  formatScore,
  formatSeconds,
  formatTime,
  isCancelled,
  shortId,
} from './format.ts'
import { Text, toVisible, VisibleText } from './visible-text.tsx'

/** A time in the zone of the browser; the exact one on hover, also in UTC. @param value ISO 8601 */
export function Time({ value }: { value: string | null }) {
  if (value === null) return <span class="muted">–</span>
  return (
    <time dateTime={value} title={formatExactTime(value)}>
      {toVisible(formatTime(value))}
    </time>
  )
}

const listeners = new Set<(now: number) => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** The time in milliseconds, which changes once a second. All components share one timer. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    listeners.add(setNow)
    timer ??= setInterval(() => {
      const time = Date.now()
      for (const listener of listeners) listener(time)
    }, 1_000)
    return () => {
      listeners.delete(setNow)
      if (listeners.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [])
  return now
}

export function Duration({ ms }: { ms: number | null }) {
  if (ms === null) return <span class="muted">–</span>
  return (
    <span class="duration" title={`${formatNumber(ms)} ms`}>
      {formatDuration(ms)}
    </span>
  )
}

/** The time since a moment, which grows. @param since ISO 8601 */
export function Elapsed({ since }: { since: string }) {
  const seconds = Math.max(Math.floor((useNow() - Date.parse(since)) / 1_000), 0)
  return (
    <span class="duration" title={`since ${formatExactTime(since)}`}>
      {formatSeconds(seconds * 1_000)}
    </span>
  )
}

type BadgeProps = {
  /** Its color. None: neutral. */
  kind?: 'success' | 'error' | 'in_progress' | 'waiting' | 'warning' | 'cancelled' | undefined
  title?: string
  children: ComponentChildren
}

export const Badge = ({ kind, title, children }: BadgeProps) => (
  <span class={kind ? `badge badge-${kind}` : 'badge'} title={title}>
    <span class="dot" aria-hidden="true" />
    {children}
  </span>
)

export const STATUS_LABELS = { IN_PROGRESS: 'In progress', SUCCESS: 'Success', ERROR: 'Error' }

type StatusProps = {
  status: ExecutionRecord['status']
  /** Of its error, which says more than "Error". */
  code?: string | undefined
  /** It is suspended, until what it waits for happens. */
  isWaiting?: boolean
}

export function StatusBadge({ status, code, isWaiting = false }: StatusProps) {
  if (isCancelled(code)) return <Badge kind="cancelled">Cancelled</Badge>
  return (
    <Badge kind={isWaiting ? 'waiting' : (status.toLowerCase() as Lowercase<typeof status>)}>
      {status === 'ERROR' && code ? (
        <span class="badge-code">
          <span class="visually-hidden">Error: </span>
          <VisibleText text={code} />
        </span>
      ) : isWaiting ? (
        'Waiting'
      ) : (
        STATUS_LABELS[status]
      )}
    </Badge>
  )
}

type Marked = Pick<
  ExecutionRecord,
  'source' | 'draft' | 'cached' | 'trialId' | 'originalExecutionId' | 'scores'
>

/** What sets a run apart from one that a client started on a published version. */
function marksOf(run: Marked): string[] {
  const isTrial = run.source === 'TRIAL'
  const isRerun = isTrial ? run.trialId === undefined : run.originalExecutionId !== undefined
  const scores = (run.scores ?? []).map(
    ({ agent, score }) => `${agent} ${score === null ? 'without a score' : formatScore(score)}`,
  )
  const source = isTrial && isRerun ? undefined : SOURCES[run.source]
  const own = [run.draft && 'Draft', source, isRerun && 'Rerun', run.cached && 'Cached']
  return [...own, ...scores].filter((mark) => typeof mark === 'string')
}

export const RunMarks = ({ run }: { run: Marked }) => (
  <>
    {marksOf(run).map((mark) => (
      <Text as="span" key={mark} class="badge run-mark" text={mark} />
    ))}
  </>
)

const SOURCES: Record<string, string> = {
  ...{ AGENT: 'Sub-agent', BATCH: 'Batch', SCHEDULE: 'Schedule', TRIAL: 'Trial', SCORE: 'Score' },
}

/** A link to a page, by the short form of the ID of what it shows. */
export const IdLink = ({ section, id }: { section: 'runs' | 'batches' | 'trials'; id: string }) => (
  <a class="mono" href={toHref(toPath(section, id))} title={id}>
    {shortId(id)}
  </a>
)

export const RunLink = ({ executionId }: { executionId: string }) => (
  <IdLink section="runs" id={executionId} />
)

export const CopiedId = ({ id }: { id: string }) => (
  <>
    <code>{id}</code> <CopyButton text={id} subject="the ID" />
  </>
)

/** A link to an agent, by its title once that is known. */
export function AgentLink({ agentId }: { agentId: string }) {
  const agent = useAgent(agentId)
  return (
    <a href={toHref(toPath('agents', agent?.slug ?? agentId))}>
      {agent ? <VisibleText text={agent.title} /> : shortId(agentId)}
    </a>
  )
}

/**
 * A link to a version of an agent, by its number once that is known. Tokens that are bound to a tenant may not read it.
 * @param agent ID or slug
 */
export function VersionLink({ agent, versionId }: { agent: string; versionId: string }) {
  const isBound = useMe()?.tenantId != null
  const name = useVersionName(isBound ? null : agent, versionId)
  if (isBound) return <code title={versionId}>{name}</code>
  return (
    <a class="mono" href={toHref(toPath('agents', agent, 'versions', versionId))} title={versionId}>
      {name}
    </a>
  )
}

/** The name of a version in a text. @param agent ID or slug */
export const VersionName = ({ agent, versionId }: { agent: string; versionId: string }) => (
  <strong title={versionId}>{useVersionName(agent, versionId)}</strong>
)

/** A token, or a person: by its name, if it is known, and the short form of its ID. */
export function Person({ id, ...given }: { id: string; name?: string | null | undefined }) {
  const found = useTokenName(id, !given.name)
  const name = given.name ?? found
  return (
    <span title={id}>
      {name && <VisibleText text={`${name} `} />}
      <code class={name ? 'muted' : undefined}>{shortId(id)}</code>
    </span>
  )
}
