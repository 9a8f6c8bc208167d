import type { UsageRowRecord as UsageRow } from '../../lib/api/schemas/usage-record.ts'
import { requestPage } from '../api/request.ts'
import type { Query } from '../state/location.ts'

const PAGE_SIZE = 1_000
const MAX_PAGES = 20

/** `isComplete`: false if there are more rows than the console reads. */
export type LoadedUsage = { rows: UsageRow[]; isComplete: boolean }

/** Rows in the order of time. @throws ApiError */
export async function loadUsage(query: Query, signal?: AbortSignal): Promise<LoadedUsage> {
  const rows: UsageRow[] = []
  let next: Query | URLSearchParams | null = { ...query, limit: PAGE_SIZE }
  for (let page = 0; next && page < MAX_PAGES; page += 1) {
    const loaded: { items: UsageRow[]; next: URLSearchParams | null } = await requestPage<UsageRow>(
      '/v1/usage',
      { query: next, signal },
    )
    rows.push(...loaded.items)
    next = loaded.next
  }
  return { rows, isComplete: next === null }
}
