import { useId } from 'preact/hooks'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { describeGate, describeTrial, trialHref } from './gate.tsx'

type Props = {
  gate: Gate | null
  trials: TrialRecord[]
  /** Empty: none. */
  chosen: string
  onChoose: (trialId: string) => void
  agent: string
  versionId: string
}

/** The trial that has to meet what the current version asks for. Nothing if neither of them exists. */
export function TrialChoice({ gate, trials, chosen, onChoose, agent, versionId }: Props) {
  const id = useId()
  const phrases = gate ? describeGate(gate) : []
  if (!gate && trials.length === 0) return null
  return (
    <div class="trial-choice">
      {gate && (
        <p>
          {gate.require === 'trial' ? 'The current version requires a trial' : 'A trial that is given has'}
          {phrases.length > 0 && `${gate.require === 'trial' ? ' with' : ' to have'} ${phrases.join(', ')}`}.
        </p>
      )}
      {trials.length > 0 ? (
        <>
          <label for={id}>Trial that has to pass</label>
          <select id={id} value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
            <option value="">None</option>
            {trials.map((trial) => (
              <option key={trial.id} value={trial.id}>
                {describeTrial(trial)}
              </option>
            ))}
          </select>
        </>
      ) : (
        <p>
          This version has no trial yet. <a href={trialHref(agent, versionId)}>Start a trial</a>
        </p>
      )}
    </div>
  )
}
