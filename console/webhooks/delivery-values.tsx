import type { DeliveryRecord } from '../../lib/contract/records/webhook.ts'
import { Badge, RunLink } from '../components/values.tsx'
import { toHref, toPath } from '../state/location.ts'

const BADGES = {
  DELIVERED: ['success', 'Delivered'],
  PENDING: ['warning', 'Tried again'],
  FAILED: ['error', 'Failed'],
} as const

export function DeliveryBadge({ status }: { status: DeliveryRecord['status'] }) {
  const [kind, label] = BADGES[status]
  return <Badge kind={kind}>{label}</Badge>
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
