import type { Interval } from './bootstrap.ts'
import { formatScore } from './score-pairs.ts'
import type { Gate, ScoreGate, TrialSums } from './trial.ts'

/** A trial without runs shows nothing. */
export const MIN_RUNS = 1

/** The interval of the mean of fewer scores says too little. */
const MIN_SCORED_RUNS = 20

/** A sum of decimals in binary is not exact. */
const TOLERANCE = 1e-9

export type UnmetLimit = { limit: Exclude<keyof Gate, 'require'>; message: string }

/**
 * The limits of a gate that a trial does not meet. Without `maxRegressed`, runs that regressed count as changed; so do
 * those that failed or diverged without `maxError`.
 */
export function findUnmet(gate: Gate, sums: TrialSums): UnmetLimit[] {
  const { maxRegressed, maxChanged, maxError, maxCostIncrease, minRuns = MIN_RUNS, scores = {} } = gate
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
  for (const [agent, limits] of Object.entries(scores))
    for (const message of findUnmetScores(agent, limits, sums)) unmet.push({ limit: 'scores', message })
  return unmet
}

/**
 * A limit is met if the whole 95 % interval is within it: that of the mean score, or of its difference. Where only a
 * part of it is, more runs could tell. A scorer that has failed on most runs has shown nothing.
 */
function findUnmetScores(agent: string, limits: ScoreGate, { runs, scores = [] }: TrialSums): string[] {
  const found = scores.find((each) => each.agent === agent)
  const needed = Math.max(MIN_SCORED_RUNS, Math.ceil(runs / 2))
  if (!found?.trial || !found.difference || found.runs < needed) {
    const scored = `${found?.runs ?? 0} of ${runs} have scores of ${agent} on both sides`
    return [`Not enough runs: ${scored}, fewer than ${needed} (scores.${agent}).`]
  }
  const { min = Number.NEGATIVE_INFINITY, maxDrop = Number.POSITIVE_INFINITY } = limits
  const check = (name: keyof ScoreGate, what: string, { mean, low, high }: Interval, least: number) => {
    if (low >= least - TOLERANCE) return []
    const isKnown = high < least - TOLERANCE
    const [is, from, to] = [mean, low, high].map(formatScore)
    const rule = `${what} of ${agent} is ${is} (95 %: ${from} to ${to}), and must be at least ${least}`
    return [`${isKnown ? 'The' : 'Not enough runs to tell: the'} ${rule} (scores.${agent}.${name}).`]
  }
  return [
    ...check('min', 'mean score', found.trial, min),
    ...check('maxDrop', 'change of the mean score', found.difference, -maxDrop),
  ]
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
