import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { usePolling } from '../api/use-resource.ts'
import { Badge } from '../components/values.tsx'
import { stateOf } from './verdicts.ts'

export function TrialBadge({ trial }: { trial: Pick<TrialRecord, 'status' | 'error'> }) {
  const { kind, label } = stateOf(trial)
  return <Badge kind={kind}>{label}</Badge>
}

/** Reads again while a trial is in progress. */
export function FollowTrials({ poll }: { poll: () => Promise<unknown> }) {
  const isLive = usePolling(poll, 'trials')
  if (isLive) return null
  return <p class="muted">Updates are interrupted: the service does not respond. Trying again…</p>
}
