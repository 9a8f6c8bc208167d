import { describe, expect, it } from 'vitest'
import { checkBudget } from '../../../bench/bundles/bundle-report.ts'

describe('checkBudget', () => {
  it('accepts a size up to the budget and a budget up to 15 % above the size', () => {
    expect(checkBudget({ full: 100_000, slack: 100_000 }, { full: 100, slack: 115 })).toEqual([])
  })

  it('reports a size above the budget', () => {
    const violation = 'big loads 100.001 KB at a cold start; its budget is 100 KB.'
    expect(checkBudget({ big: 100_001 }, { big: 100 })).toEqual([violation])
  })

  it('reports a budget more than 15 % above the size', () => {
    const violation =
      'small loads 100 KB at a cold start; its budget of 116 KB is more than 15 % above that: reduce it.'
    expect(checkBudget({ small: 100_000 }, { small: 116 })).toEqual([violation])
  })

  it('reports a function without a budget and a budget without a function', () => {
    expect(checkBudget({ added: 1000 }, { removed: 1 })).toEqual([
      'added loads 1 KB at a cold start, but has no budget.',
      'removed has a budget, but is not a function.',
    ])
  })
})
