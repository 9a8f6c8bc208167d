import { describe, expect, it } from 'vitest'
import { costIncreaseOf, findUnmet } from '../../lib/core/gate.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { trialSums } from '../support/batches/a-batch.ts'

const unmet = (gate: Gate, sums: Parameters<typeof trialSums>[0]) =>
  findUnmet(gate, trialSums(sums)).map(({ limit, message }) => `${limit}: ${message}`)

describe('findUnmet', () => {
  it('finds nothing in a gate without limits, whatever the verdicts are', () => {
    expect(unmet({}, { CHANGED: 5, REGRESSED: 5, DIVERGED: 5, ERROR: 5 })).toEqual([])
    expect(unmet({ require: 'trial' }, { ERROR: 1 })).toEqual([])
  })

  it('finds a trial without runs, which shows nothing', () => {
    expect(unmet({}, {})).toEqual(['minRuns: The trial has 0 runs, fewer than 1 (minRuns).'])
  })

  it.each<[keyof Gate, Parameters<typeof trialSums>[0], Parameters<typeof trialSums>[0], string]>([
    ['minRuns', { SAME: 3 }, { SAME: 2 }, 'The trial has 2 runs, fewer than 3'],
    ['maxRegressed', { REGRESSED: 3 }, { REGRESSED: 4 }, '4 runs regressed; at most 3 may'],
    ['maxChanged', { CHANGED: 3 }, { CHANGED: 4 }, '4 runs changed; at most 3 may'],
    ['maxError', { ERROR: 3 }, { ERROR: 4 }, '4 runs failed or diverged; at most 3 may'],
    ['maxError', { DIVERGED: 3 }, { DIVERGED: 2, ERROR: 2 }, '4 runs failed or diverged; at most 3 may'],
  ])('allows %s up to its value', (limit, met, exceeded, message) => {
    const gate = { [limit]: 3 }
    expect(unmet(gate, met)).toEqual([])
    expect(unmet(gate, exceeded)).toEqual([`${limit}: ${message} (${limit}).`])
  })

  it('does not count what improved', () => {
    expect(unmet({ maxChanged: 0, maxRegressed: 0, maxError: 0 }, { CORRECTED: 9, SAME: 1 })).toEqual([])
  })

  it('counts runs that regressed as changed, unless they have a limit of their own', () => {
    expect(unmet({ maxChanged: 0 }, { REGRESSED: 1 })).toEqual([
      'maxChanged: 1 run changed; at most 0 may (maxChanged).',
    ])
    expect(unmet({ maxChanged: 0, maxRegressed: 1 }, { REGRESSED: 1 })).toEqual([])
  })

  it('counts runs that failed or diverged as changed, unless they have a limit of their own', () => {
    const sums = { CHANGED: 1, DIVERGED: 1, ERROR: 1 }
    expect(unmet({ maxChanged: 3, maxRegressed: 0 }, sums)).toEqual([])
    expect(unmet({ maxChanged: 2, maxRegressed: 0 }, sums)).toEqual([
      'maxChanged: 3 runs changed, failed or diverged; at most 2 may (maxChanged).',
    ])
    expect(unmet({ maxChanged: 1, maxError: 2 }, sums)).toEqual([])
  })

  it('names each limit that is not met', () => {
    const gate = { minRuns: 50, maxRegressed: 0, maxChanged: 0, maxError: 0, maxCostIncrease: 0.1 }
    const sums = { CHANGED: 1, REGRESSED: 1, DIVERGED: 1, originalTotal: 1, trialTotal: 1.25 }
    expect(unmet(gate, sums)).toEqual([
      'minRuns: The trial has 3 runs, fewer than 50 (minRuns).',
      'maxRegressed: 1 run regressed; at most 0 may (maxRegressed).',
      'maxChanged: 1 run changed; at most 0 may (maxChanged).',
      'maxError: 1 run failed or diverged; at most 0 may (maxError).',
      'maxCostIncrease: The runs cost 25 % more than their originals; at most 10 % more are allowed (maxCostIncrease).',
    ])
  })

  it.each([
    [1, 1.1, 0.1, true],
    [0.3, 0.33, 0.1, true],
    [1, 1.100_01, 0.1, false],
    [2, 1, 0, true],
    [0, 0, 0, true],
    [0, 0.000_001, 1_000, false],
  ])(
    'compares originals of $%d with runs of $%d and an increase of %d',
    (originalTotal, trialTotal, maxCostIncrease, isMet) => {
      expect(unmet({ maxCostIncrease }, { SAME: 1, originalTotal, trialTotal }).length === 0).toBe(isMet)
    },
  )

  it('does not know the costs of runs that cannot be compared', () => {
    const sums = { ...trialSums({ SAME: 3 }), compared: 0 }
    expect(findUnmet({ maxCostIncrease: 0.1 }, sums)).toEqual([
      {
        limit: 'maxCostIncrease',
        message:
          'No run has a cost that can be compared with that of its original; at most 10 % more are allowed (maxCostIncrease).',
      },
    ])
    expect(unmet({ maxCostIncrease: 0.1 }, { ERROR: 3 })).toHaveLength(1)
    expect(unmet({ maxCostIncrease: 0.1, minRuns: 1 }, {})).toHaveLength(2)
    expect(findUnmet({ maxChanged: 0 }, sums)).toEqual([])
    expect(costIncreaseOf(sums)).toBeNull()
  })
})

describe('costIncreaseOf', () => {
  it('is a fraction of what the originals cost, and null if they cost nothing', () => {
    const increase = (originalTotal: number, trialTotal: number) =>
      costIncreaseOf(trialSums({ SAME: 1, originalTotal, trialTotal }))
    expect([increase(2, 3), increase(2, 1), increase(0, 0), increase(0, 1)]).toEqual([0.5, -0.5, 0, null])
  })
})
