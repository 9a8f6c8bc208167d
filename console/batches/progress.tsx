import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import { formatCount, formatPercent } from '../components/format.ts'
import { PartsBar } from '../components/small-charts.tsx'
import { Badge } from '../components/values.tsx'
import { say } from '../components/visible-text.tsx'
import { BATCH_STATUSES, progressOf } from './batches.ts'

export function ProgressBar({ batch }: { batch: BatchRecord }) {
  const { counts, lines } = batch
  const ended = counts.SUCCESS + counts.ERROR
  return (
    <div
      role="progressbar"
      aria-label="Lines that have ended"
      aria-valuemin={0}
      aria-valuemax={lines}
      aria-valuenow={ended}
      aria-valuetext={`${formatCount(ended)} of ${formatCount(lines)}: ${formatPercent(progressOf(batch))}`}
    >
      <PartsBar
        parts={[
          { size: counts.SUCCESS, color: 'var(--series-2)' },
          { size: counts.ERROR, color: 'var(--series-3)' },
        ]}
        total={lines}
      />
    </div>
  )
}

export function BatchStatus({ batch: { status, error, counts } }: { batch: BatchRecord }) {
  const kind = status !== 'ENDED' ? 'in_progress' : error ? 'warning' : counts.ERROR > 0 ? 'error' : 'success'
  return (
    <Badge kind={kind}>
      <span class="badge-code">
        {BATCH_STATUSES[status]}
        {status === 'ENDED' && !error && counts.ERROR > 0 && ' with failures'}
        {error && say`: ${error.code}`}
      </span>
    </Badge>
  )
}
