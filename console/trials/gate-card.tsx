import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { describeGate, findReasons } from '../../lib/contract/trial-outcome.ts'
import type { ApiError } from '../api/api-error.ts'
import { Card, ErrorBox } from '../components/page.tsx'
import { TextList } from '../components/visible-text.tsx'
import type { Release } from '../versions/release.tsx'
import { withoutNames } from './verdicts.ts'

type GateProps = {
  trial: TrialRecord
  release: { data: Release | null; error: ApiError | null; isLoading: boolean; reload: () => void }
}

/** What the current version asks for of a trial, and whether this one meets it. */
export const GateCard = ({ trial, release }: GateProps) => (
  <Card title="Gate" class="stack">
    {release.error && <ErrorBox error={release.error} onRetry={release.reload} />}
    {release.data ? (
      <Gate trial={trial} gate={release.data.gate} />
    ) : (
      !release.error && (
        <p class="muted">
          {release.isLoading ? 'Loading what the current version asks for…' : 'The agent is gone.'}
        </p>
      )
    )}
  </Card>
)

function Gate({ trial, gate }: { trial: TrialRecord; gate: Release['gate'] }) {
  const hasEnded = trial.status === 'ENDED'
  const reasons = hasEnded ? findReasons(trial, gate) : []
  // As the service decides about a promotion, and `agents trial` exits.
  const isMet = findReasons(trial, gate ?? {}).length === 0
  const [summary] = describeGate({ gate, unmet: reasons }).split('\n')
  return (
    <>
      <p>
        {!hasEnded ? (
          <span class="badge">Judged when the trial has ended</span>
        ) : isMet ? (
          <span class={`badge ${reasons.length > 0 ? '' : 'badge-success'}`}>{gate ? 'Met' : 'No gate'}</span>
        ) : (
          <span class="badge badge-error">{gate ? 'Not met' : 'Not accepted'}</span>
        )}
      </p>
      {hasEnded && <p>{summary}</p>}
      <TextList texts={reasons.map(withoutNames)} />
      <p class="muted">
        {gate
          ? 'The document of the current version says what a trial has to meet before another version replaces it.'
          : 'Any version may replace it.'}
      </p>
    </>
  )
}
