import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { Gate } from '../../lib/core/trial.ts'
import type { ApiError } from '../api/api-error.ts'
import { formatCount, formatCountOf, formatPercent, formatTime } from '../components/format.ts'
import { ErrorBox, Facts } from '../components/page.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { countVerdicts, type Verdicts, withoutNames } from '../trials/verdicts.ts'

export function describeGate(gate: Gate): string[] {
  const { maxRegressed, maxChanged, maxError, maxCostIncrease, scores = {}, minRuns } = gate
  const phrases = [
    minRuns !== undefined && `at least ${formatCountOf(minRuns, 'run')}`,
    maxRegressed !== undefined && `at most ${formatCount(maxRegressed)} regressed`,
    maxChanged !== undefined && `at most ${formatCount(maxChanged)} changed`,
    maxError !== undefined && `at most ${formatCount(maxError)} failed or diverged`,
    maxCostIncrease !== undefined && `costs at most ${formatPercent(maxCostIncrease)} more`,
    ...Object.entries(scores).flatMap(([scorer, { min, maxDrop }]) => [
      min !== undefined && `a mean score of ${scorer} of at least ${min}`,
      maxDrop !== undefined && `a mean score of ${scorer} that is lower by at most ${maxDrop}`,
    ]),
  ]
  return phrases.filter((phrase) => phrase !== false)
}

export function describeTrial({ createdAt, status, cancelled, lines, verdicts }: TrialRecord): string {
  const state = cancelled ? 'cancelled' : status === 'ENDED' ? null : 'in progress'
  const parts = [formatCountOf(lines, 'run'), ...countVerdicts(verdicts), ...(state ? [state] : [])]
  return `${formatTime(createdAt)}: ${parts.join(', ')}`
}

type Failure = { trialId?: string; runs?: number; verdicts?: Verdicts; costIncrease?: number | null }

type ErrorProps = { error: ApiError; agent: string; versionId: string }

/** Why a version was not released, and what to do about it. @param agent its slug */
export function ReleaseError({ error, agent, versionId }: ErrorProps) {
  if (error.code === 'TrialRequired')
    return (
      <section class="error-box" role="alert">
        <h2>A trial is required</h2>
        <p>
          The current version lets another one take its place only after a trial on earlier runs. Nothing was
          changed.
        </p>
        <div class="actions">
          <TextLink class="button" href={trialHref(agent, versionId)} text="Start a trial of this version" />
        </div>
      </section>
    )
  if (error.code !== 'TrialFailed') return <ErrorBox error={error} />
  const { trialId, runs, verdicts, costIncrease } = (error.problem ?? {}) as Failure
  return (
    <section class="error-box" role="alert">
      <h2>The trial does not meet the limits of the current version</h2>
      <p>{withoutNames(error.message)} Nothing was changed.</p>
      {runs !== undefined && (
        <Facts
          facts={{
            Runs: formatCount(runs),
            Verdicts: countVerdicts(verdicts ?? {}).join(', '),
            Cost: typeof costIncrease === 'number' && formatIncrease(costIncrease),
          }}
        />
      )}
      <div class="actions">
        {trialId !== undefined && (
          <TextLink class="button" href={toHref(toPath('trials', trialId))} text="Open the trial" />
        )}
        <TextLink class="button" href={trialHref(agent, versionId)} text="Start another trial" />
      </div>
    </section>
  )
}

const formatIncrease = (increase: number): string =>
  increase === 0 ? 'the same' : `${formatPercent(Math.abs(increase))} ${increase > 0 ? 'more' : 'less'}`

export const trialHref = (agent: string, versionId: string): string =>
  toHref('/trials/new', { agent, version: versionId })
