import { useEffect } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import { usePolling } from '../api/poller.ts'
import { requestPage } from '../api/request.ts'
import { credentials } from '../state/session.ts'
import { createStore, type Store, useStore } from '../state/store.ts'

/** How many approvals are open: exact up to a page. Null until it is known. */
const count: Store<{ open: number; isMore: boolean } | null> = createStore(null)

const SHOWN = 20
const INTERVAL_MS = 60_000

let askedAt = 0
credentials.subscribe(() => {
  count.set(null)
  askedAt = 0
})

/** Asks again, after a decision for example. @throws ApiError */
export async function countApprovals(): Promise<void> {
  askedAt = Date.now()
  const query = { fields: 'summary', limit: SHOWN }
  const { items, next } = await requestPage<ApprovalRecord>('/v1/approvals', { query })
  count.set({ open: items.length, isMore: next !== null })
}

/** Coming back to the tab asks only if the last answer is old. */
const countIfOld = async () => {
  if (Date.now() - askedAt >= INTERVAL_MS - 1_000) await countApprovals()
}

/** The number of open approvals, beside their link in the sidebar. Only for tokens that may decide. */
export function ApprovalCount() {
  const shown = useStore(count)
  useEffect(() => {
    countIfOld().catch(() => undefined)
  }, [])
  usePolling(countIfOld, 'approvals', INTERVAL_MS)
  if (!shown || shown.open === 0) return null
  return (
    <span class="nav-count">
      {shown.open}
      {shown.isMore && '+'}
      <span class="visually-hidden"> open</span>
    </span>
  )
}
