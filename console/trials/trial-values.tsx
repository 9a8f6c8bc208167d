import type { TrialRecord } from '../../lib/api/schemas/trial-record.ts'
import { usePolling } from '../api/use-resource.ts'
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

/** Reads again while a trial is in progress. */
export function FollowTrials({ poll }: { poll: () => Promise<unknown> }) {
  const isLive = usePolling(poll, 'trials')
  if (isLive) return null
  return <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>
}
