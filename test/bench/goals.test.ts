import { describe, expect, it } from 'vitest'
import { GOALS, judge } from '../../bench/goals.ts'
import { PARTS } from '../../bench/parts.ts'
import { spreadOf } from '../../bench/statistics.ts'

const figuresOf = (value: number) => {
  const parts = Map.groupBy(GOALS, ({ part }) => part)
  return Object.fromEntries(
    [...parts].map(([part, goals]) => [
      part,
      Object.fromEntries(goals.map(({ figure }) => [figure, spreadOf([value])])),
    ]),
  )
}

describe('judge', () => {
  it('meets a limit that is reached exactly, and misses one that is passed', () => {
    for (const goal of GOALS) {
      const limit = goal.atMost ?? goal.atLeast ?? 0
      const verdictAt = (value: number) =>
        judge(figuresOf(value), false).find(({ name }) => name === goal.name)
      const beyond = goal.atMost === undefined ? limit * 0.99 : limit * 1.01
      expect(verdictAt(limit)?.met, goal.name).toBe(true)
      expect(verdictAt(beyond)?.met, goal.name).toBe(false)
    }
  })

  it('judges the parts that ran, and no others', () => {
    const { b = {} } = figuresOf(1)
    expect(judge({ b }, false)).toHaveLength(1)
  })

  it('takes a figure that a part left out for a mistake, except for one that a quick run leaves out', () => {
    expect(() => judge({ c: {} }, false)).toThrow('has not measured')
    expect(judge({ c: {} }, true)).toMatchObject([{ measured: null, met: null }])
    expect(() => judge({ d: {} }, true)).toThrow('has not measured')
  })
})

it('has goals of parts that there are', () => {
  const letters = PARTS.map(({ letter }) => letter)
  expect(letters).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  for (const { part } of GOALS) expect(letters).toContain(part)
})
