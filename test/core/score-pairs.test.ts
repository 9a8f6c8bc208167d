import { describe, expect, it } from 'vitest'
import { findUnmet } from '../../lib/core/gate.ts'
import { isEquivalent, type ScoredPair, scorersOf, sumScores } from '../../lib/core/score-pairs.ts'
import type { ScoreGate } from '../../lib/core/trial.ts'
import { trialSums } from '../support/batches/a-batch.ts'
import { seededRandom } from '../support/data/random.ts'

const faithful = { agent: 'faithful', tolerance: 0.1 }
const TRIAL_ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'

const pair = (original: number | null, trial: number | null, agent = 'faithful'): ScoredPair => ({
  ...{ agent, original, trial },
})

const sum = (pairs: [number | null, number | null][], seed = TRIAL_ID) => {
  const runs = pairs.map(([original, trial]) => ({ scores: [pair(original, trial)] }))
  return sumScores(faithful, runs, seed)
}

/** Why a trial with these scores, and so many runs without any, does not meet the gate. */
const unmet = (limits: ScoreGate, pairs: [number | null, number | null][], others = 0) => {
  const sums = { ...trialSums({ SAME: pairs.length + others }), scores: [sum(pairs)] }
  return findUnmet({ require: 'trial', scores: { faithful: limits } }, sums).map(({ message }) => message)
}

/** A scorer whose scores of the same run differ by noise: its difference has a standard deviation of 0.07. */
function simulate(seed: number, drop: number, runs = 200) {
  const { next: random } = seededRandom(seed, 'scores')
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const clamp = (score: number) => Math.min(Math.max(score, 0), 1)
  return Array.from({ length: runs }, (): [number, number] => {
    const original = 0.6 + 0.25 * random()
    return [original, clamp(original - drop + 0.07 * normal())]
  })
}

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed)

describe('the gate of a trial with 200 runs and paired noise of 0.07', () => {
  const share = (isTrue: (seed: number) => boolean) => SEEDS.filter(isTrue).length / SEEDS.length
  const passing = (drop: number) =>
    share((seed) => unmet({ maxDrop: 0.02 }, simulate(seed, drop)).length === 0)

  it('stops a draft that is worse by 0.05, and lets an equal and a better one pass', () => {
    expect(passing(0.05)).toBeLessThanOrEqual(0.05)
    expect(passing(0)).toBeGreaterThanOrEqual(0.95)
    expect(passing(-0.05)).toBeGreaterThanOrEqual(0.95)
  })

  it('has the true difference in 95 % of the intervals', () => {
    const covered = share((seed) => {
      const { low, high } = sum(simulate(seed, 0.01)).difference ?? { low: 1, high: 0 }
      return low <= -0.01 && -0.01 <= high
    })
    expect(covered).toBeGreaterThan(0.91)
    expect(covered).toBeLessThan(0.99)
  })

  it('cannot tell with few runs, and says so', () => {
    const [reason] = unmet({ maxDrop: 0.005 }, simulate(1, 0, 25))
    expect(reason).toMatch(
      /^Not enough runs to tell: the change of the mean score of faithful is -?[\d.]+ \(95 %: -0\.0\d+ to 0\.0\d+\), and must be at least -0\.005 \(scores\.faithful\.maxDrop\)\.$/,
    )
  })
})

describe('findUnmet', () => {
  const same = Array(20).fill([0.8, 0.8]) as [number, number][]
  const notEnough = (runs: string, fewest: number, agent = 'faithful') =>
    `Not enough runs: ${runs} have scores of ${agent} on both sides, fewer than ${fewest} (scores.${agent}).`

  it('compares the ends of the interval with the limits, in decimals', () => {
    expect(unmet({ min: 0.8, maxDrop: 0 }, same)).toEqual([])
    const lower = Array(20).fill([0.9, 0.8]) as [number, number][]
    expect(unmet({ maxDrop: 0.1 }, lower)).toEqual([])
    expect(unmet({ min: 0.81, maxDrop: 0.09 }, lower)).toEqual([
      'The mean score of faithful is 0.8 (95 %: 0.8 to 0.8), and must be at least 0.81 (scores.faithful.min).',
      'The change of the mean score of faithful is -0.1 (95 %: -0.1 to -0.1), and must be at least -0.09 (scores.faithful.maxDrop).',
    ])
  })

  it('needs 20 runs with both scores, and half of all', () => {
    expect(unmet({ min: 0 }, same.slice(1))).toEqual([notEnough('19 of 19', 20)])
    expect(unmet({ min: 0 }, same, 20)).toEqual([])
    expect(unmet({ min: 0 }, same, 21)).toEqual([notEnough('20 of 41', 21)])
    const others = Array(30).fill([null, 0.9]) as [null, number][]
    expect(unmet({ min: 0 }, [...same.slice(1), ...others])).toHaveLength(1)
  })

  it('does not hold for a scorer that the trial did not have', () => {
    const [found, ...others] = findUnmet({ scores: { other: { min: 0 } } }, trialSums({ SAME: 50 }))
    expect(found).toEqual({ limit: 'scores', message: notEnough('0 of 50', 25, 'other') })
    expect(others).toEqual([])
  })
})

describe('sumScores', () => {
  it('counts wins, losses and ties by the tolerance, in decimals, and runs without scores', () => {
    const originals = [0.7, 0.8, 0.7, 0.8, 0.3, null, 1]
    const trials = [0.8, 0.7, 0.81, 0.69, 1, 1, null]
    const runs = sum(originals.map((original, run) => [original, trials[run] ?? null]))
    expect(runs).toMatchObject({ runs: 5, unscored: 2, wins: 2, losses: 1, ties: 2 })
    expect([runs.original?.mean, runs.trial?.mean, runs.difference?.mean]).toEqual([0.66, 0.8, 0.14])
  })

  it('has no means without runs', () => {
    const nothing = { runs: 0, original: null, trial: null, difference: null, wins: 0, losses: 0, ties: 0 }
    expect(sumScores(faithful, [{}, { scores: [pair(1, 1, 'other')] }], TRIAL_ID)).toEqual({
      ...{ agent: 'faithful', unscored: 2, ...nothing },
    })
  })

  it('has the same interval each time, and another one for another trial', () => {
    const pairs = simulate(7, 0)
    expect(sum(pairs)).toEqual(sum(pairs))
    expect(sum(pairs, '01a2003b-879e-76ff-97ee-7005494d15b8').difference).not.toEqual(sum(pairs).difference)
  })
})

describe('isEquivalent', () => {
  const tone = { agent: 'tone', tolerance: 0 }

  it.each([
    [0.7, 0.8, true],
    [0.8, 0.7, true],
    [0.8, 0.699, false],
    [0.8, null, false],
    [null, null, false],
  ])('of scores %s and %s is %s', (original, trial, expected) => {
    expect(isEquivalent([faithful], [pair(original, trial)])).toBe(expected)
  })

  it('needs all scorers, each with its tolerance, and one at least', () => {
    const scores = [pair(0.8, 0.8), pair(0.5, 0.5, 'tone')]
    expect(isEquivalent([faithful, tone], scores)).toBe(true)
    expect(isEquivalent([faithful, tone], [pair(0.8, 0.8), pair(0.5, 0.51, 'tone')])).toBe(false)
    expect(isEquivalent([faithful, tone], scores.slice(1))).toBe(false)
    expect(isEquivalent([], scores)).toBe(false)
  })
})

describe('scorersOf', () => {
  it('takes the scorers of the current version as they are, and adds those of the draft', () => {
    const current = { scorers: [{ agent: 'faithful', tolerance: 0.05 }] }
    const draft = { scorers: [{ agent: 'faithful', tolerance: 1 }, { agent: 'tone' }] }
    expect(scorersOf(current, draft)).toEqual([
      { agent: 'faithful', tolerance: 0.05 },
      { agent: 'tone', tolerance: 0.1 },
    ])
    expect(scorersOf(null, {})).toEqual([])
  })
})
