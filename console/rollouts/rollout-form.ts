import type { RolloutBody } from '../../lib/contract/bodies/agents.ts'
import type { RolloutRecord } from '../../lib/contract/records/rollout.ts'
import { ROLLOUT_MIN_RUNS } from '../../lib/core/limits.ts'

/** A rollout as it is typed. Empty: the service does not end it for that reason. */
export type RolloutForm = ReturnType<typeof newRollout>

export const newRollout = (versionId: string) => ({
  versionId,
  percent: '10',
  key: 'tenant' as RolloutRecord['key'],
  /** In percent. */
  maxErrorRate: '',
  maxCostIncrease: '',
  /** From 0 to 1. */
  maxScoreDrop: '',
  minRuns: String(ROLLOUT_MIN_RUNS.default),
  trial: '',
})

export function toForm({ versionId, percent, key, abort }: RolloutRecord): RolloutForm {
  return {
    ...newRollout(versionId),
    percent: String(percent),
    key,
    maxErrorRate: toPercent(abort?.maxErrorRate),
    maxCostIncrease: toPercent(abort?.maxCostIncrease),
    maxScoreDrop: String(abort?.maxScoreDrop ?? ''),
    ...(abort && { minRuns: String(abort.minRuns) }),
  }
}

const toPercent = (fraction: number | null | undefined): string =>
  fraction == null ? '' : String(Number((fraction * 100).toFixed(4)))

export function toBody(form: RolloutForm): RolloutBody {
  const rules = {
    maxErrorRate: toFraction(form.maxErrorRate),
    maxCostIncrease: toFraction(form.maxCostIncrease),
    maxScoreDrop: form.maxScoreDrop.trim() === '' ? null : Number(form.maxScoreDrop),
  }
  const hasRules = Object.values(rules).some((rule) => rule !== null)
  return {
    versionId: form.versionId,
    percent: Number(form.percent),
    key: form.key,
    abort: hasRules
      ? {
          ...rules,
          ...(form.minRuns.trim() !== '' && { minRuns: Number(form.minRuns) }),
        }
      : null,
    ...(form.trial !== '' && { trial: form.trial }),
  }
}

const toFraction = (percent: string): number | null =>
  percent.trim() === '' ? null : Number((Number(percent) / 100).toFixed(6))

export const restOf = (percent: number): number => Number((100 - percent).toFixed(2))

/** When the service ends a rollout automatically, as sentences. */
export function describeRules(abort: RolloutRecord['abort']): string[] {
  if (!abort) return ['The service does not end it automatically.']
  const { maxErrorRate, maxCostIncrease, maxScoreDrop, minRuns } = abort
  return [
    maxErrorRate !== null && `more than ${toPercent(maxErrorRate)}% of its runs have failed`,
    maxCostIncrease !== null &&
      `a run costs over ${toPercent(maxCostIncrease)}% more than one of the current version in the same time`,
    maxScoreDrop !== null &&
      `a mean score is certainly lower than that of the current version by over ${maxScoreDrop}`,
  ]
    .filter((reason) => reason !== false)
    .map((reason) => `The service ends it when ${reason}, after at least ${minRuns} runs.`)
}
