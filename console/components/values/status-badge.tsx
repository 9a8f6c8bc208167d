import type { ExecutionRecord } from '../../../lib/api/schemas/execution-record.ts'

const LABELS = { IN_PROGRESS: 'In progress', SUCCESS: 'Success', ERROR: 'Error' }

/** The status of an execution. @param code of its error, which says more than "Error" */
export function StatusBadge({
  status,
  code,
}: {
  status: ExecutionRecord['status']
  code?: string | undefined
}) {
  return (
    <span class={`badge badge-${status.toLowerCase()}`}>
      <span class="dot" aria-hidden="true" />
      {status === 'ERROR' && code ? (
        <span class="badge-code">
          <span class="visually-hidden">Error: </span>
          {code}
        </span>
      ) : (
        LABELS[status]
      )}
    </span>
  )
}
