import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage.ts'
import { type LoadedList, requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import type { Query } from '../state/location.ts'
import { type Period, toUsageQuery, type UsageQuery } from './periods.ts'

const PAGE_SIZE = 1_000

/** Rows in the order of time. @throws ApiError */
export const loadUsage = (query: Query, signal?: AbortSignal): Promise<LoadedList<UsageRow>> =>
  requestPages('/v1/usage', { query: { ...query, limit: PAGE_SIZE }, signal })

export const INCOMPLETE_NOTE =
  'There is more usage than this page reads: the latest part of the period is missing.'

/** The service adds runs to the totals minute by minute. */
const POLL_MS = 60_000

/** `now`: the end of the period. */
export type Usage = LoadedList<UsageRow> & { now: number }

/** The usage of a period, kept up to date. The period and the query of a component never change. */
export const useUsage = (period: Period, query: UsageQuery) =>
  useResource(
    'usage',
    async (signal): Promise<Usage> => {
      const now = Date.now()
      return { now, ...(await loadUsage(toUsageQuery(period, now, query), signal)) }
    },
    { everyMs: () => POLL_MS, watch: ({ items }) => items },
  )
