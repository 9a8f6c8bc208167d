import { bootstrapMeans, type Interval } from './bootstrap.ts'
import { SCORE_TOLERANCE, type Score, type Scorer } from './score.ts'

/** What scores the outputs of a trial. */
export type TrialScorer = { agent: string; tolerance: number }

/** The scores of the output of an original, and of that of its line; null without one, then `error` says why. */
export type ScoredPair = {
  agent: string
  original: number | null
  trial: number | null
  /** The runs of the scorer. Absent for those that did not begin. */
  originalScoreId?: string
  trialScoreId?: string
  error?: NonNullable<Score['error']>
}

/**
 * What a scorer says about the runs of a trial. `runs`: those with both scores, of which everything else is, and
 * `unscored` the others. `difference`: of the scores of the trial and those of the originals. `ties`: within the
 * tolerance. The means are null without runs.
 */
export type ScoreSums = {
  agent: string
  runs: number
  unscored: number
  original: Interval | null
  trial: Interval | null
  difference: Interval | null
  wins: number
  losses: number
  ties: number
}

/**
 * The scorers of a trial: those of the current version, which decides what replaces it, then those that only the
 * version of the trial has.
 */
export function scorersOf(...versions: ({ scorers?: Scorer[] | undefined } | null)[]): TrialScorer[] {
  const scorers = new Map<string, TrialScorer>()
  for (const { agent, tolerance = SCORE_TOLERANCE } of versions.flatMap((version) => version?.scorers ?? []))
    if (!scorers.has(agent)) scorers.set(agent, { agent, tolerance })
  return [...scorers.values()]
}

/** A difference of decimals in binary is not exact. */
const ROUNDING = 1e-9

/** Whether all scorers, and at least one, say that a line whose output differs is as good. */
export const isEquivalent = (scorers: TrialScorer[], pairs: ScoredPair[]): boolean =>
  scorers.length > 0 &&
  scorers.every(({ agent, tolerance }) => {
    const pair = pairs.find((each) => each.agent === agent)
    return pair && hasBoth(pair) && Math.abs(differenceOf(pair)) <= tolerance + ROUNDING
  })

type CompletePair = ScoredPair & { original: number; trial: number }

const hasBoth = (pair: ScoredPair): pair is CompletePair => pair.original !== null && pair.trial !== null

const differenceOf = ({ original, trial }: CompletePair): number => trial - original

/** @param runs the judgements of the trial @param seed its ID */
export function sumScores(
  { agent, tolerance }: TrialScorer,
  runs: { scores?: ScoredPair[] }[],
  seed: string,
): ScoreSums {
  const pairs = runs.flatMap(({ scores }) => scores?.find((pair) => pair.agent === agent) ?? [])
  const scored = pairs.filter(hasBoth)
  const difference = scored.map(differenceOf)
  const [original, trial] = [scored.map((pair) => pair.original), scored.map((pair) => pair.trial)]
  const wins = difference.filter((each) => each > tolerance + ROUNDING).length
  const losses = difference.filter((each) => each < -tolerance - ROUNDING).length
  const counts = { runs: scored.length, unscored: runs.length - scored.length }
  const means = scored.length > 0 ? bootstrapMeans({ original, trial, difference }, seed) : NO_MEANS
  return { agent, ...counts, ...means, wins, losses, ties: scored.length - wins - losses }
}

/** Without the digits that say nothing. */
export const formatScore = (score: number): string => String(Number(score.toFixed(4)))

const NO_MEANS = { original: null, trial: null, difference: null }
