import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import type { ApiError } from '../api/api-error.ts'
import { type Page, requestPage } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'
import type { Query } from '../state/location.ts'

type Run = ExecutionSummaryRecord

/** Statistics are of this many runs: ten pages. */
export const MAX_RUNS = 1_000

const PAGE_SIZE = 100

/** Newest first, at most `MAX_RUNS`. @throws ApiError */
export async function loadRuns(
  query: Query,
  signal: AbortSignal,
  onPage: (runs: Run[]) => void = () => undefined,
): Promise<Run[]> {
  let runs: Run[] = []
  let next: Query | URLSearchParams | null = { ...query, fields: 'summary', limit: PAGE_SIZE }
  while (next && runs.length < MAX_RUNS) {
    const page: Page<Run> = await requestPage<Run>('/v1/agent_executions', { query: next, signal })
    runs = [...runs, ...page.items].slice(0, MAX_RUNS)
    next = page.next
    onPage(runs)
  }
  return runs
}

type Recent = { runs: Run[]; isLoading: boolean; error: ApiError | null }

/** The most recent runs, which are complete once `isLoading` is false. */
export function useRecentRuns(): Recent & { reload: () => void } {
  const [state, setState] = useState<Recent>({ runs: [], isLoading: true, error: null })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const show = (change: Partial<Recent>) => !signal.aborted && setState((last) => ({ ...last, ...change }))
    show({ isLoading: true, error: null })
    // After a reload, the last statistics stay until the new ones are complete.
    loadRuns({}, signal, (runs) => round === 0 && show({ runs })).then(
      (runs) => show({ runs, isLoading: false }),
      (error: unknown) => show({ isLoading: false, error: asApiError(error) }),
    )
    return () => controller.abort()
  }, [round])
  return { ...state, reload: useCallback(() => setRound((last) => last + 1), []) }
}
