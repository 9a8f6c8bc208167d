import type { TrialRecord } from '../../lib/api/schemas/trial-record.ts'
import { stateOf } from './verdicts.ts'

export function TrialBadge({ trial }: { trial: Pick<TrialRecord, 'status' | 'error'> }) {
  const { kind, label } = stateOf(trial)
  return (
    <span class={`badge badge-${kind}`}>
      <span class="dot" aria-hidden="true" />
      {label}
    </span>
  )
}
