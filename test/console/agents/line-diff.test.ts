import { describe, expect, it } from 'vitest'
import { foldLines } from '../../../console/agents/line-diff.tsx'

const lines = (kinds: string) =>
  [...kinds].map((kind, index) => ({
    kind: kind === '+' ? ('added' as const) : kind === '-' ? ('removed' as const) : ('same' as const),
    text: String(index),
  }))

const partsOf = (kinds: string) =>
  foldLines(lines(kinds)).map(({ start, lines: { length }, isFolded }) => [start, length, isFolded])

describe('foldLines', () => {
  it('shows three unchanged lines around a difference and folds the others', () =>
    expect(partsOf('......+......')).toEqual([
      [0, 3, true],
      [3, 7, false],
      [10, 3, true],
    ]))
  it('joins differences that are near each other', () => expect(partsOf('-......+')).toEqual([[0, 8, false]]))
  it('does not fold a single line', () =>
    expect(partsOf('....+')).toEqual([
      [0, 1, false],
      [1, 4, false],
    ]))
  it('folds all lines of equal texts', () => expect(partsOf('.....')).toEqual([[0, 5, true]]))
})
