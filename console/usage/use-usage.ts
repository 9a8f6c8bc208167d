import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage.ts'
import type { ApiError } from '../api/api-error.ts'
import { type LoadedList, requestPages } from '../api/request.ts'
import { usePolling, useResource } from '../api/use-resource.ts'
import type { Period } from '../components/range.ts'
import type { Query } from '../state/location.ts'
import { toUsageQuery, type UsageQuery } from './periods.ts'

const PAGE_SIZE = 1_000

/** Rows in the order of time. @throws ApiError */
export const loadUsage = (query: Query, signal?: AbortSignal): Promise<LoadedList<UsageRow>> =>
  requestPages('/v1/usage', { query: { ...query, limit: PAGE_SIZE }, signal })

/** The service adds runs to the totals minute by minute. */
const POLL_MS = 60_000

/** `now`: the end of the period. */
export type Usage = LoadedList<UsageRow> & { now: number }

type State = {
  data: Usage | null
  error: ApiError | null
  reload: () => void
  /** False while updates fail. */
  isLive: boolean
}

/** The usage of a period that ends now, kept up to date. The period and the query of a component never change. */
export function useUsage(period: Period, query: UsageQuery): State {
  const load = async (signal?: AbortSignal): Promise<Usage> => {
    const now = Date.now()
    return { now, ...(await loadUsage(toUsageQuery(period, now, query), signal)) }
  }
  const { data, error, reload, setData } = useResource('usage', load)
  const poll = async () => {
    const latest = await load()
    setData(latest)
    return latest.items
  }
  const isLive = usePolling(poll, 'usage', POLL_MS)
  return { data, error, reload, isLive }
}
