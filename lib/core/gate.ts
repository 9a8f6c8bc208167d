import type { Gate, TrialSums } from './trial.ts'

/** A trial without runs shows nothing. */
export const MIN_RUNS = 1

/** A sum of prices in binary is not exact. */
const TOLERANCE = 1e-9

export type UnmetLimit = { limit: Exclude<keyof Gate, 'require'>; message: string }

/**
 * The limits of a gate that a trial does not meet. Without `maxRegressed`, runs that regressed count as changed; so do
 * those that failed or diverged without `maxError`.
 */
export function findUnmet(gate: Gate, sums: TrialSums): UnmetLimit[] {
  const { maxRegressed, maxChanged, maxError, maxCostIncrease, minRuns = MIN_RUNS } = gate
  const { CHANGED, REGRESSED, DIVERGED, ERROR } = sums.verdicts
  const failed = maxError === undefined ? ERROR + DIVERGED : 0
  const changed = CHANGED + failed + (maxRegressed === undefined ? REGRESSED : 0)
  const increase = costIncreaseOf(sums) ?? Number.POSITIVE_INFINITY
  const unmet: UnmetLimit[] = []
  const check = (limit: UnmetLimit['limit'], isMet: boolean, message: string) => {
    if (!isMet) unmet.push({ limit, message: `${message} (${limit}).` })
  }
  const checkMax = (limit: UnmetLimit['limit'], max: number | undefined, count: number, what: string) =>
    check(limit, max === undefined || count <= max, `${countRuns(count)} ${what}; at most ${max} may`)
  check('minRuns', sums.runs >= minRuns, `The trial has ${countRuns(sums.runs)}, fewer than ${minRuns}`)
  checkMax('maxRegressed', maxRegressed, REGRESSED, 'regressed')
  checkMax('maxChanged', maxChanged, changed, failed > 0 ? 'changed, failed or diverged' : 'changed')
  checkMax('maxError', maxError, ERROR + DIVERGED, 'failed or diverged')
  check(
    'maxCostIncrease',
    maxCostIncrease === undefined || increase <= maxCostIncrease + TOLERANCE,
    `${describeIncrease(sums, increase)}; at most ${toPercent(maxCostIncrease)} more are allowed`,
  )
  return unmet
}

/** As a fraction of what the originals cost. Null: they cost nothing, and the trial did, or no run was compared. */
export function costIncreaseOf({
  compared,
  costUsd: { originalTotal, trialTotal },
}: TrialSums): number | null {
  if (compared === 0) return null
  if (originalTotal > 0) return trialTotal / originalTotal - 1
  return trialTotal > 0 ? null : 0
}

const countRuns = (count: number): string => (count === 1 ? '1 run' : `${count} runs`)

const toPercent = (fraction = 0): string => `${Number((fraction * 100).toPrecision(4))} %`

function describeIncrease({ compared }: TrialSums, increase: number): string {
  if (compared === 0) return 'No run has a cost that can be compared with that of its original'
  const more = Number.isFinite(increase) ? `${toPercent(increase)} more` : 'more'
  return `The runs cost ${more} than their originals`
}
