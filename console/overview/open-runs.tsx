import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import type { ApiError } from '../api/api-error.ts'
import { type Page, requestPage } from '../api/request.ts'
import { asApiError, usePolling } from '../api/use-resource.ts'
import { Table } from '../components/data.tsx'
import { formatCount } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { AgentLink, Elapsed, RunLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import type { Query } from '../state/location.ts'

type Run = ExecutionSummaryRecord

const SHOWN = 10

/** Beyond, they are not counted: the longest of them would take as many requests again. */
const MAX_RUNS = 1_000
const PAGE_SIZE = 100

/** Newest first, at most `MAX_RUNS`. @throws ApiError */
async function loadOpenRuns(signal: AbortSignal): Promise<Run[]> {
  let runs: Run[] = []
  let next: Query | URLSearchParams | null = { status: 'IN_PROGRESS', fields: 'summary', limit: PAGE_SIZE }
  while (next && runs.length < MAX_RUNS) {
    const page: Page<Run> = await requestPage<Run>('/v1/agent_executions', { query: next, signal })
    runs = [...runs, ...page.items]
    next = page.next
  }
  return runs.slice(0, MAX_RUNS)
}

/**
 * What is in progress, and for how long: the longest first. Its children are below it. They load at the same time, and
 * appear when its height is known, so that they do not move.
 */
export function OpenRuns({ children }: { children: ComponentChildren }) {
  const [runs, setRuns] = useState<Run[] | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const controller = useRef(new AbortController())
  const load = useCallback(async () => {
    try {
      const loaded = await loadOpenRuns(controller.current.signal)
      setRuns(loaded)
      setError(null)
      // What else a run tells is not shown here.
      return loaded.map(({ id, startedAt, steps }) => [id, startedAt, steps])
    } catch (cause) {
      if (!controller.current.signal.aborted) setError(asApiError(cause))
      throw cause
    }
  }, [])
  useEffect(() => {
    controller.current = new AbortController()
    load().catch(() => undefined)
    return () => controller.current.abort()
  }, [load])
  usePolling(load, 'open-runs')

  const longest = runs?.toReversed().slice(0, SHOWN) ?? []
  const count =
    runs === null ? '…' : `${formatCount(runs.length)}${runs.length === MAX_RUNS ? ' or more' : ''}`
  return (
    <>
      <section class="card open-runs" aria-labelledby="open-title">
        <h2 id="open-title">In progress: {count}</h2>
        {error && !runs && <ErrorBox error={error} onRetry={() => void load().catch(() => undefined)} />}
        {error && runs && (
          <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>
        )}
        {runs?.length === 0 && <p class="muted">Nothing is running.</p>}
        {longest.length > 0 && (
          <Table
            caption="Runs in progress, longest first"
            columns={['Run', 'Agent', 'For', { label: 'Steps', isNumeric: true }, 'Tenant']}
          >
            {longest.map((run) => (
              <tr key={run.id}>
                <td>
                  <RunLink executionId={run.id} />
                </td>
                <td>
                  <AgentLink agentId={run.documentId} />
                </td>
                <td>
                  <Elapsed since={run.createdAt} />
                  {run.startedAt === null && <span class="muted"> (waiting)</span>}
                </td>
                <td class="numeric">{formatCount(run.steps)}</td>
                <td>
                  <VisibleText text={run.tenantId ?? '–'} />
                </td>
              </tr>
            ))}
          </Table>
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
