import { useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import { requestPage } from '../api/request.ts'
import { usePolling, useResource } from '../api/use-resource.ts'

/**
 * Whether the organization has no run at all: usage is counted some time after a run, and forgets those of other
 * periods. Null until it is known. It becomes false with the first run.
 * @param isEmpty whether there is a reason to ask
 */
export function useFirstVisit(isEmpty: boolean): boolean | null {
  const [hasRun, setHasRun] = useState(false)
  const isAsked = isEmpty && !hasRun
  const check = async (signal?: AbortSignal) => {
    if (!isAsked) return false
    const query = { limit: 1, fields: 'summary' }
    const { items, next } = await requestPage<ExecutionSummaryRecord>('/v1/agent_executions', {
      query,
      signal,
    })
    // A page can be empty although others follow.
    const isFirst = items.length === 0 && next === null
    setHasRun(!isFirst)
    return isFirst
  }
  const { data, error } = useResource(`first visit ${isAsked}`, check)
  usePolling(check, `first visit ${isAsked}`)
  return !isAsked || error ? false : data
}
