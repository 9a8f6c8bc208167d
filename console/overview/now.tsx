import type { ComponentChildren } from 'preact'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import type { LimitsRecord } from '../../lib/contract/records/limits.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { useAgents } from '../api/agents.ts'
import { nullIf } from '../api/api-error.ts'
import { requestPage, requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { formatCount } from '../components/format.ts'
import { Card, ErrorBox } from '../components/page.tsx'
import { AgentLink, Elapsed, RunLink } from '../components/values.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import { type Query, toHref } from '../state/location.ts'
import { readsAllTenants, useMe } from '../state/session.ts'
import { loadSpent } from '../tenants/limits.ts'
import { loadUsage } from '../usage/use-usage.ts'
import { type Checked, findAttention } from './attention.ts'

/** The runs in progress, in one line. Its children are below it, and appear with it, so that they do not move. */
export function OpenRuns({ children }: { children: ComponentChildren }) {
  const query = { status: 'IN_PROGRESS', fields: 'summary', limit: 100 }
  const { data, error, isLive, reload } = useResource(
    'open-runs',
    (signal) => requestPage<ExecutionSummaryRecord>('/v1/agent_executions', { query, signal }),
    { watch: ({ items }) => items.map(({ id }) => id) },
  )
  const oldest = data?.items.at(-1)
  return (
    <>
      {error && !data && <ErrorBox error={error} onRetry={reload} />}
      <p>
        <a href={toHref('/runs', { status: 'IN_PROGRESS' })}>
          In progress: {data ? `${formatCount(data.items.length)}${data.next ? ' or more' : ''}` : '…'}
        </a>
        {oldest &&
          !data?.next &&
          say`, the longest ${<RunLink executionId={oldest.id} />} of ${<AgentLink agentId={oldest.documentId} />} for ${<Elapsed since={oldest.createdAt} />}`}
        {!isLive && data && (
          <span class="muted"> Updates are interrupted: the service does not respond. Trying again…</span>
        )}
      </p>
      <div class="stack" hidden={!data && !error}>
        {children}
      </div>
    </>
  )
}

/** At most seven requests: a page that is open all day asks every ten minutes. */
const POLL_MS = 600_000

/** @throws ApiError */
async function check(signal: AbortSignal): Promise<Partial<Checked>> {
  const now = Date.now()
  const ago = (ms: number) => new Date(now - ms).toISOString()
  const read = async <T,>(path: string, query: Query) =>
    (await requestPages<T>(path, { query: { limit: 100, ...query }, signal, maxPages: 1 }).catch(nullIf(403)))
      ?.items ?? []
  const failed = { status: 'ERROR', fields: 'summary' }
  const limits = read<LimitsRecord>('/v1/limits', { kind: 'tenant' })
  const reads: { [Name in keyof Checked]: Promise<Checked[Name]> } = {
    // They are one page.
    webhooks: read('/v1/webhooks', { limit: null }),
    scheduled: read('/v1/agent_executions', { ...failed, source: 'SCHEDULE', from: ago(DAY_MS) }),
    batches: read('/v1/batches', {}),
    approvals: read('/v1/approvals', { fields: 'summary' }),
    limits,
    usage: limits.then((read) => loadSpent(read, signal)),
    recent: loadUsage({ groupBy: 'agent,version', interval: 'hour', from: ago(DAY_MS) }, signal).then(
      ({ items }) => items,
    ),
  }
  return Object.fromEntries(
    await Promise.all(Object.entries(reads).map(async ([name, promise]) => [name, await promise])),
  )
}

/** What needs attention: one line each. Nothing while it is not known, so that nothing is claimed. */
export function Attention() {
  const me = useMe()
  const agents = useAgents()
  const mayRead = me !== null && readsAllTenants(me)
  const { data, error, reload } = useResource(
    `attention ${mayRead}`,
    (signal) => (mayRead ? check(signal) : Promise.resolve(null)),
    { everyMs: () => (mayRead ? POLL_MS : null) },
  )
  if (!mayRead) return null
  const findings = data ? findAttention(data, agents ?? new Map(), Date.now()) : []
  return (
    <Card title="Needs attention" class="stack">
      {error && <ErrorBox error={error} onRetry={reload} />}
      {findings.length > 0 && (
        <ul class="plain-list attention">
          {findings.map(({ parts, href }) => (
            <li key={parts.join('')}>
              <a href={href}>
                {parts.map((part, at) => (at % 2 ? <VisibleText key={at} text={part} /> : part))}
              </a>
            </li>
          ))}
        </ul>
      )}
      {findings.length === 0 && !error && <p class="muted">{data ? 'Nothing.' : 'Checking…'}</p>}
    </Card>
  )
}
