import type { DeliveryRecord } from '../../lib/api/schemas/webhook-record.ts'
import { RunLink } from '../components/values.tsx'
import { toHref, toPath } from '../state/location.ts'

const BADGES = {
  DELIVERED: ['badge-success', 'Delivered'],
  PENDING: ['badge-in_progress', 'Tried again'],
  FAILED: ['badge-error', 'Failed'],
} as const

export function DeliveryBadge({ status }: { status: DeliveryRecord['status'] }) {
  const [kind, label] = BADGES[status]
  return (
    <span class={`badge ${kind}`}>
      <span class="dot" aria-hidden="true" />
      {label}
    </span>
  )
}

/** The run or the batch that an event is about. */
export function SubjectLink({ delivery: { executionId, batchId } }: { delivery: DeliveryRecord }) {
  if (executionId !== null)
    return (
      <>
        Run <RunLink executionId={executionId} />
      </>
    )
  if (batchId === null) return <span class="muted">–</span>
  return <a href={toHref(toPath('batches', batchId))}>Batch</a>
}
