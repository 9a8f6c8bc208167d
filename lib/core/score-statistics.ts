/**
 * Sums of the scores of runs, in millionths: they are exact. `squares`: of the scores. `low`: below the minimum of the
 * scorer. `failed`: runs of the scorer without a score, which `runs` does not count.
 */
export type ScoreSums = { runs: number; sum: number; squares: number; low: number; failed: number }
export const NO_SCORES: ScoreSums = { runs: 0, sum: 0, squares: 0, low: 0, failed: 0 }
const SCORE_UNIT = 1e6

/** The sums of one score; null: the scorer has failed. */
export const toScoreSums = (score: number | null, isLow: boolean): ScoreSums =>
  score === null
    ? { ...NO_SCORES, failed: 1 }
    : {
        runs: 1,
        sum: Math.round(score * SCORE_UNIT),
        squares: Math.round(score ** 2 * SCORE_UNIT),
        low: isLow ? 1 : 0,
        failed: 0,
      }

export const addScores = (a: ScoreSums, b: ScoreSums): ScoreSums => ({
  runs: a.runs + b.runs,
  sum: a.sum + b.sum,
  squares: a.squares + b.squares,
  low: a.low + b.low,
  failed: a.failed + b.failed,
})

/** Scores of runs: how many, their mean, and their standard deviation; null below two. */
export type ScoreFigures = { runs: number; mean: number | null; deviation: number | null }

export function toScoreFigures({ runs, sum, squares }: ScoreSums): ScoreFigures {
  if (runs === 0) return { runs, mean: null, deviation: null }
  const mean = sum / SCORE_UNIT / runs
  const variance = Math.max(squares / SCORE_UNIT - runs * mean ** 2, 0) / (runs - 1)
  // Rounding leaves digits below the unit of the sums.
  return { runs, mean: rounded(mean), deviation: runs < 2 ? null : rounded(Math.sqrt(variance)) }
}

const rounded = (value: number): number => Math.round(value * SCORE_UNIT) / SCORE_UNIT

export type Interval = { from: number; to: number }

/**
 * The 95 % confidence interval of the difference of two means, first minus second, of independent samples whose
 * variances may differ (Welch); null if one has fewer than two scores.
 * https://en.wikipedia.org/wiki/Welch%27s_t-test
 */
export function differenceOfMeans(first: ScoreFigures, second: ScoreFigures): Interval | null {
  const [a, b] = [errorOf(first), errorOf(second)]
  if (!a || !b) return null
  const difference = a.mean - b.mean
  const variance = a.variance + b.variance
  if (variance === 0) return { from: difference, to: difference }
  const freedom = variance ** 2 / (a.variance ** 2 / (a.runs - 1) + b.variance ** 2 / (b.runs - 1))
  const margin = studentQuantile(freedom) * Math.sqrt(variance)
  return { from: difference - margin, to: difference + margin }
}

/** The variance of the mean. */
const errorOf = ({ runs, mean, deviation }: ScoreFigures) =>
  mean === null || deviation === null ? null : { runs, mean, variance: deviation ** 2 / runs }

const Z = 1.959963984540054

/**
 * The 97.5 % quantile of Student's t-distribution: Abramowitz and Stegun, 26.7.5. Within 1 % from three degrees of
 * freedom on.
 */
function studentQuantile(freedom: number): number {
  const terms = [
    (Z ** 3 + Z) / 4,
    (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
    (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
  ]
  return terms.reduce((sum, term, index) => sum + term / freedom ** (index + 1), Z)
}

/** How often a scorer and people have said the same. `high`: the score is at least the minimum of the scorer. */
export type AgreementTable = {
  highLiked: number
  highDisliked: number
  lowLiked: number
  lowDisliked: number
}

/**
 * Cohen's kappa: 1 if they always agree, 0 if as often as by chance. Null if chance alone makes them agree always: all
 * runs are in the same cell, or there are none.
 */
export function kappaOf({ highLiked, highDisliked, lowLiked, lowDisliked }: AgreementTable): number | null {
  const runs = highLiked + highDisliked + lowLiked + lowDisliked
  const agreed = (highLiked + lowDisliked) * runs
  const byChance =
    (highLiked + highDisliked) * (highLiked + lowLiked) +
    (lowLiked + lowDisliked) * (highDisliked + lowDisliked)
  return byChance === runs ** 2 ? null : rounded((agreed - byChance) / (runs ** 2 - byChance))
}
