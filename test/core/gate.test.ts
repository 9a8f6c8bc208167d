import { describe, expect, it } from 'vitest'
import { addSpending, findExcess, shareBudget, toBudget } from '../../lib/core/budget.ts'
import { costIncreaseOf, findUnmet } from '../../lib/core/gate.ts'
import { toOptions } from '../../lib/core/run-options.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { trialSums } from '../support/batches/a-batch.ts'

const unmet = (gate: Gate, sums: Parameters<typeof trialSums>[0]) =>
  findUnmet(gate, trialSums(sums)).map(({ limit, message }) => `${limit}: ${message}`)

describe('findUnmet', () => {
  it('finds nothing in a gate without limits, whatever the verdicts are, but that there are no runs', () => {
    expect(unmet({}, { CHANGED: 5, REGRESSED: 5, DIVERGED: 5, ERROR: 5 })).toEqual([])
    expect(unmet({ require: 'trial' }, { ERROR: 1 })).toEqual([])
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

  it('counts runs that did not improve as changed, unless they have a limit of their own', () => {
    expect(unmet({ maxChanged: 0, maxRegressed: 0, maxError: 0 }, { CORRECTED: 9, SAME: 1 })).toEqual([])
    const changed = (what: string) => [`maxChanged: ${what} may (maxChanged).`]
    expect(unmet({ maxChanged: 0 }, { REGRESSED: 1 })).toEqual(changed('1 run changed; at most 0'))
    expect(unmet({ maxChanged: 0, maxRegressed: 1 }, { REGRESSED: 1 })).toEqual([])
    const sums = { CHANGED: 1, DIVERGED: 1, ERROR: 1 }
    const tooMany = changed('3 runs changed, failed or diverged; at most 2')
    expect(unmet({ maxChanged: 3, maxRegressed: 0 }, sums)).toEqual([])
    expect(unmet({ maxChanged: 2, maxRegressed: 0 }, sums)).toEqual(tooMany)
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

it('costIncreaseOf is a fraction of what the originals cost, and null if they cost nothing', () => {
  const increase = (originalTotal: number, trialTotal: number) =>
    costIncreaseOf(trialSums({ SAME: 1, originalTotal, trialTotal }))
  expect([increase(2, 3), increase(2, 1), increase(0, 0), increase(0, 1)]).toEqual([0.5, -0.5, 0, null])
})

const budgetOf = (maxTokens: number | null, maxCostUsd: number | null) => ({ maxTokens, maxCostUsd })

it('toBudget takes the smaller limit of each kind, and is null without any', () => {
  expect(toBudget(budgetOf(500, 0.2), { maxTokens: 600, maxCostUsd: 0.1 })).toEqual(budgetOf(500, 0.1))
  expect(toBudget({}, { maxTokens: undefined, maxCostUsd: 3 })).toEqual(budgetOf(null, 3))
  expect(toBudget(budgetOf(null, null), {})).toBeNull()
  // As of versions from before budgets existed.
  expect(toBudget({})).toBeNull()
  expect(toOptions(null)).toEqual({})
})

it.each([
  [budgetOf(1_000, 1), { tokens: 400, costUsd: 0.1 }, 4, budgetOf(150, 0.225)],
  [budgetOf(1_000, 1), { tokens: 1_200, costUsd: 2 }, 1, budgetOf(0, 0)],
  [budgetOf(1_000, null), { tokens: 0, costUsd: null }, 3, budgetOf(333, null)],
])('shareBudget divides what is left of %j after %j by %i', (budget, spent, shares, expected) => {
  expect(shareBudget(budget, spent, shares)).toEqual(expected)
})

describe('findExcess', () => {
  it('is an error with what was spent once nothing is left', () => {
    const budget = { maxTokens: 1_000, maxCostUsd: 0.5 }
    expect(findExcess(budget, { tokens: 999, costUsd: 0.499 })).toBeNull()
    expect(findExcess(budget, { tokens: 1_000, costUsd: 0.499 })).toEqual({
      code: 'BudgetExceeded',
      message:
        'The run has no budget left for another model response: it spent 1,000 of 1,000 tokens (maxTokens).',
      spent: { tokens: 1_000, costUsd: 0.499 },
    })
    expect(findExcess(budget, { tokens: 0, costUsd: 0.6 })?.message).toContain(
      '0.6 of 0.5 US dollars (maxCostUsd)',
    )
  })

  it('treats an unknown cost as exceeding a limit in dollars only', () => {
    const spent = addSpending({ tokens: 1, costUsd: null }, { tokens: 1, costUsd: 0.1 })
    expect(findExcess({ maxTokens: 10, maxCostUsd: null }, spent)).toBeNull()
    expect(findExcess({ maxTokens: null, maxCostUsd: 5 }, spent)?.message).toContain('an unknown part of 5')
  })
})
