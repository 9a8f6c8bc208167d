import { describe, expect, it } from 'vitest'
import { addSpending, findExcess, shareBudget, toBudget, toOptions } from '../../lib/core/budget.ts'

describe('toBudget', () => {
  it('takes the smaller limit of each kind', () => {
    const version = { maxTokens: 500, maxCostUsd: 0.2 }
    expect(toBudget(version, { maxTokens: 600, maxCostUsd: 0.1 })).toEqual({
      maxTokens: 500,
      maxCostUsd: 0.1,
    })
    expect(toBudget({}, { maxTokens: undefined, maxCostUsd: 3 })).toEqual({ maxTokens: null, maxCostUsd: 3 })
  })

  it('is null without a limit, and for versions from before budgets existed', () => {
    expect(toBudget({ maxTokens: null, maxCostUsd: null }, {})).toBeNull()
    expect(toBudget({})).toBeNull()
    expect(toOptions(null)).toEqual({})
  })
})

describe('shareBudget', () => {
  it('divides what is left equally', () => {
    const budget = { maxTokens: 1_000, maxCostUsd: 1 }
    expect(shareBudget(budget, { tokens: 400, costUsd: 0.1 }, 4)).toEqual({
      maxTokens: 150,
      maxCostUsd: 0.225,
    })
    expect(shareBudget(budget, { tokens: 1_200, costUsd: 2 }, 1)).toEqual({ maxTokens: 0, maxCostUsd: 0 })
    expect(shareBudget({ ...budget, maxCostUsd: null }, { tokens: 0, costUsd: null }, 3)).toEqual({
      maxTokens: 333,
      maxCostUsd: null,
    })
  })
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
