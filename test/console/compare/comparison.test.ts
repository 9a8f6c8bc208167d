import { describe, expect, it } from 'vitest'
import {
  type ComparedStep,
  formatChange,
  groupSteps,
  parseRunId,
  titleOfStep,
} from '../../../console/compare/comparison.ts'

const step = (number: number | null, isSame: boolean, others: Partial<ComparedStep> = {}): ComparedStep => ({
  number,
  otherNumber: number,
  isSame,
  differences: [],
  ...others,
})

describe('groupSteps', () => {
  it('folds steps that are the same, and marks the first difference only', () => {
    const [one, two, three, four, five] = [
      step(1, true),
      step(2, true),
      step(3, false),
      step(4, true),
      step(5, false),
    ] as const
    expect(groupSteps([one, two, three, four, five])).toEqual([
      { kind: 'same', steps: [one, two] },
      { kind: 'different', step: three, isFirst: true },
      { kind: 'same', steps: [four] },
      { kind: 'different', step: five, isFirst: false },
    ])
    expect(groupSteps([])).toEqual([])
  })
})

it('titleOfStep has the numbers in both runs if they differ, and the name', () => {
  expect(
    [
      step(3, true),
      step(3, true, { otherNumber: 4, name: 'load' }),
      step(3, true, { otherNumber: null }),
      step(null, true, { otherNumber: 4 }),
    ].map(titleOfStep),
  ).toEqual(['Step 3', 'Step 3 of A, 4 of B: load', 'Step 3 of A', 'Step 4 of B'])
})

describe('formatChange', () => {
  it.each([
    [100, 112, '+12%'],
    [100, 97, '−3%'],
    [100, 250, '2.5 times as much'],
    [1_000, 1_001, ''],
    [0, 5, ''],
    [5, 5, ''],
    [null, 5, ''],
    [5, null, ''],
    [5, 0, '−100%'],
  ])('from %s to %s', (a, b, text) => {
    expect(formatChange(a, b)).toBe(text)
  })
})

describe('parseRunId', () => {
  const id = '01a2003a-d1f2-7169-a695-5ea4428d9251'
  it.each([
    [id, id],
    [` ${id.toUpperCase()}\n`, id],
    [`https://host/stage/console#/runs/${id}?step=4.2`, id],
    ['01a2003a', null],
    ['', null],
  ])('%s', (text, expected) => {
    expect(parseRunId(text)).toBe(expected)
  })
})
