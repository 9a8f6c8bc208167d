import { describe, expect, it } from 'vitest'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import type { Json } from '../../lib/core/json/json.ts'
import { readScore } from '../../lib/core/score.ts'
import {
  addScores,
  differenceOfMeans,
  kappaOf,
  NO_SCORES,
  toScoreFigures,
  toScoreSums,
} from '../../lib/core/score-statistics.ts'
import { seededRandom } from '../support/data/random.ts'

describe('readScore', () => {
  it.each([
    [0, 0],
    [1, 1],
    [new ExactNumber('0.12345678901234567890123') as unknown as Json, 0.12345678901234568],
  ])('reads %s', (given, score) => {
    expect(readScore({ score: given, reason: 'Because.' })).toEqual({
      score,
      reason: 'Because.',
      error: null,
    })
  })

  it('cuts a long reason, also within a surrogate pair, and ignores one that is no text', () => {
    const { reason } = readScore({ score: 1, reason: `${'x'.repeat(499)}😀` })
    expect(reason).toBe(`${'x'.repeat(499)}\uFFFD`)
    expect(readScore({ score: 1, reason: { a: 1 } }).reason).toBeNull()
  })

  it.each([
    [{}, 'is missing'],
    [{ score: 1.5 }, 'is 1.5'],
    [{ score: -0.1 }, 'is -0.1'],
    [{ score: '0.9' }, 'is "0.9"'],
    [{ score: null }, 'is null'],
    [{ score: Number.NaN }, 'is null'],
    [{ score: [1] }, 'is [1]'],
    [{ score: 'x'.repeat(1_000) }, `is "${'x'.repeat(49)}`],
  ])('has no score for %j', (output, found) => {
    const message = `The output of a scorer must have a number from 0 to 1 as score, which ${found}.`
    const error = { code: 'InvalidScore', message }
    expect(readScore(output)).toEqual({ score: null, reason: null, error })
  })
})

const figuresOf = (scores: number[]) =>
  toScoreFigures(scores.map((score) => toScoreSums(score, false)).reduce(addScores, NO_SCORES))

describe('toScoreFigures', () => {
  it.each([
    [[], { runs: 0, mean: null, deviation: null }],
    [[0.3], { runs: 1, mean: 0.3, deviation: null }],
    [[0.5, 0.5, 0.5], { runs: 3, mean: 0.5, deviation: 0 }],
    [[0.2, 0.8], { runs: 2, mean: 0.5, deviation: 0.424264 }],
    [[0.2, 0.4, 0.4, 0.4, 0.5, 0.5, 0.7, 0.9], { runs: 8, mean: 0.5, deviation: 0.213809 }],
  ])('of %j', (scores, expected) => expect(figuresOf(scores)).toEqual(expected))
})

describe('differenceOfMeans', () => {
  // Two samples of the same size and deviation have 2n - 2 degrees of freedom; quantiles are those of printed tables.
  it.each([
    [3, 2.776],
    [6, 2.228],
    [16, 2.042],
    [51, 1.984],
    [500, 1.962],
  ])('has the margin of Student’s distribution for two samples of %i', (runs, quantile) => {
    const [first, second] = [0.6, 0.8].map((mean) => ({ runs, mean, deviation: 0.1 })) as [never, never]
    const margin = quantile * 0.1 * Math.sqrt(2 / runs)
    const { from = 0, to = 0 } = differenceOfMeans(first, second) ?? {}
    expect((to - from) / 2 / margin).toBeCloseTo(1, 2)
    expect((from + to) / 2).toBeCloseTo(-0.2, 9)
  })

  it('is exact without variance, and unknown below two scores', () => {
    const exact = differenceOfMeans(figuresOf([0.5, 0.5]), figuresOf([0.75, 0.75]))
    expect(exact).toEqual({ from: -0.25, to: -0.25 })
    for (const scores of [[0.5], []])
      expect(differenceOfMeans(figuresOf(scores), figuresOf([0.75, 0.8]))).toBeNull()
  })

  it('tells a version that is worse by 0.05 from an equal one, 200 runs each', () => {
    const random = seededRandom(1, 'scores')
    const noise = () => Array.from({ length: 12 }, () => random.next()).reduce((sum, each) => sum + each, -6)
    const sample = (mean: number) =>
      figuresOf(Array.from({ length: 200 }, () => Math.min(Math.max(mean + 0.07 * noise(), 0), 1)))
    const isWorse = (drop: number) => (differenceOfMeans(sample(0.8 - drop), sample(0.8))?.to ?? 0) < 0
    const seeds = Array.from({ length: 200 })
    expect(seeds.filter(() => isWorse(0.05)).length).toBeGreaterThanOrEqual(190)
    expect(seeds.filter(() => isWorse(0)).length).toBeLessThanOrEqual(10)
  })
})

describe('kappaOf', () => {
  const table = (highLiked: number, highDisliked: number, lowLiked: number, lowDisliked: number) => ({
    ...{ highLiked, highDisliked, lowLiked, lowDisliked },
  })

  it.each([
    // https://en.wikipedia.org/wiki/Cohen%27s_kappa#Examples
    ['two readers of 50 proposals', table(20, 5, 10, 15), 0.4],
    ['the same agreement, other marginals', table(45, 15, 25, 15), 0.130435],
    ['unequal disagreements', table(25, 35, 5, 35), 0.259259],
    ['always the same', table(7, 0, 0, 3), 1],
    ['always the opposite', table(0, 5, 5, 0), -1],
    ['as often as by chance', table(25, 25, 25, 25), 0],
    ['people like everything', table(6, 0, 4, 0), 0],
    ['everything in one cell', table(9, 0, 0, 0), null],
    ['nothing', table(0, 0, 0, 0), null],
  ])('%s', (_, cells, expected) => expect(kappaOf(cells)).toBe(expected))
})
