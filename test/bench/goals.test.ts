import { describe, expect, it } from 'vitest'
import { evaluate, type Figures, GOALS } from '../../bench/goals.ts'
import { toSpread } from '../../bench/harness/rounds.ts'

const resultAt = (key: string, value: number) => evaluate({ [key]: toSpread([value]) } as Figures)[0]?.passed

describe('evaluate', () => {
  it.each(Object.entries(GOALS))('passes %s at its limit and fails it beyond', (key, goal) => {
    if ('atMost' in goal) {
      expect(resultAt(key, goal.atMost)).toBe(true)
      expect(resultAt(key, goal.atMost * 1.01)).toBe(false)
    } else {
      expect(resultAt(key, goal.atLeast)).toBe(true)
      expect(resultAt(key, goal.atLeast * 0.99)).toBe(false)
    }
  })

  it('compares the median', () => {
    expect(evaluate({ readySeconds: { median: 1, min: 0.5, max: 9 } })).toMatchObject([{ passed: true }])
  })

  it('leaves out what was not measured', () => {
    expect(evaluate({})).toEqual([])
  })
})
