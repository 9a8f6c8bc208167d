import type { ComponentChildren } from 'preact'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { formatCount } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { ErrorBox } from '../components/page.tsx'
import { AgentLink, Elapsed, RunLink } from '../components/values.tsx'

const SHOWN = 10

/** Beyond 1,000, they are not counted: the longest of them would take as many requests again. */
const OPEN_RUNS = { query: { status: 'IN_PROGRESS', fields: 'summary', limit: 100 }, maxPages: 10 }

/**
 * What is in progress, and for how long: the longest first. Its children are below it. They load at the same time, and
 * appear when its height is known, so that they do not move.
 */
export function OpenRuns({ children }: { children: ComponentChildren }) {
  const { data, error, isLive, reload } = useResource(
    'open-runs',
    (signal) => requestPages<ExecutionSummaryRecord>('/v1/agent_executions', { ...OPEN_RUNS, signal }),
    // What else a run tells is not shown here.
    { watch: ({ items }) => items.map(({ id, startedAt, steps }) => [id, startedAt, steps]) },
  )
  const runs = data?.items
  const longest = runs?.toReversed().slice(0, SHOWN) ?? []
  const count = data ? `${formatCount(data.items.length)}${data.isComplete ? '' : ' or more'}` : '…'
  return (
    <>
      <section class="card open-runs" aria-labelledby="open-title">
        <h2 id="open-title">In progress: {count}</h2>
        {error && !runs && <ErrorBox error={error} onRetry={reload} />}
        {!isLive && runs && (
          <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>
        )}
        {runs?.length === 0 && <p class="muted">Nothing is running.</p>}
        {longest.length > 0 && (
          <ItemTable
            caption="Runs in progress, longest first"
            items={longest}
            columns={{
              Run: ({ id }) => <RunLink executionId={id} />,
              Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
              For: ({ createdAt, startedAt }) => (
                <>
                  <Elapsed since={createdAt} />
                  {startedAt === null && <span class="muted"> (waiting)</span>}
                </>
              ),
              Steps: { numeric: ({ steps }) => formatCount(steps) },
              Tenant: { text: ({ tenantId }) => tenantId },
            }}
          />
        )}
        {runs && runs.length > SHOWN && (
          <p>
            The {SHOWN} longest. <a href="#/runs?status=IN_PROGRESS">All runs in progress</a>
          </p>
        )}
      </section>
      <div class="stack" hidden={!runs && !error}>
        {children}
      </div>
    </>
  )
}
