import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ComparedStep,
  formatChange,
  groupSteps,
  parseRunId,
  titleOfStep,
} from '../../../console/compare/comparison.ts'
import { diffTexts } from '../../../console/compare/word-diff.tsx'

const step = (number: number | null, isSame: boolean, others: Partial<ComparedStep> = {}): ComparedStep => ({
  ...{ number, otherNumber: number, isSame, differences: [] },
  ...others,
})

it('groupSteps folds steps that are the same, and marks the first difference only', () => {
  const [one, two, three, four] = [step(1, true), step(2, true), step(3, false), step(4, false)] as const
  expect(groupSteps([one, two, three, one, four])).toEqual([
    { kind: 'same', steps: [one, two] },
    { kind: 'different', step: three, isFirst: true },
    { kind: 'same', steps: [one] },
    { kind: 'different', step: four, isFirst: false },
  ])
  expect(groupSteps([])).toEqual([])
})

it('titleOfStep has the numbers in both runs if they differ, and the name', () => {
  const others = [{}, { otherNumber: 4, name: 'load' }, { otherNumber: null }]
  const titles = others.map((each) => titleOfStep(step(3, true, each)))
  expect(titles).toEqual(['Step 3', 'Step 3 of A, 4 of B: load', 'Step 3 of A'])
  expect(titleOfStep(step(null, true, { otherNumber: 4 }))).toBe('Step 4 of B')
})

it.each([
  [100, 112, '+12%'],
  [5, 0, '−100%'],
  [100, 250, '2.5 times as much'],
  [1_000, 1_001, ''],
  [0, 5, ''],
  [null, 5, ''],
])('the change from %s to %s is %j', (a, b, text) => expect(formatChange(a, b)).toBe(text))

it('parseRunId finds the ID in what is pasted', () => {
  const id = '01a2003a-d1f2-7169-a695-5ea4428d9251'
  for (const text of [` ${id.toUpperCase()}\n`, `https://host/stage/console#/runs/${id}?step=4.2`])
    expect(parseRunId(text)).toBe(id)
  expect([parseRunId('01a2003a'), parseRunId('')]).toEqual([null, null])
})

const textOf = (before: string, after: string, ...kinds: string[]) =>
  diffTexts(before, after)
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ text }) => text)
    .join('')

describe('diffTexts', () => {
  it('finds the words that differ', () => {
    expect(diffTexts('Your parcel is in Leipzig.', 'Your parcel is in Berlin today.')).toEqual([
      { kind: 'same', text: 'Your parcel is in ' },
      { kind: 'removed', text: 'Leipzig' },
      { kind: 'added', text: 'Berlin today' },
      { kind: 'same', text: '.' },
    ])
  })

  it('shows texts as a whole that have little in common, or more differences than it looks for', () => {
    expect(diffTexts('false', 'true').map(({ kind }) => kind)).toEqual(['removed', 'added'])
    const words = (first: string) => Array.from({ length: 5_000 }, (_, index) => `${first}${index}`).join(' ')
    const begun = performance.now()
    expect(diffTexts(words('a'), words('b')).map(({ kind }) => kind)).toEqual(['removed', 'added'])
    expect(performance.now() - begun).toBeLessThan(3_000)
  })

  it('has all of both texts, in their order', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
        expect(textOf(before, after, 'same', 'removed')).toBe(before)
        expect(textOf(before, after, 'same', 'added')).toBe(after)
      }),
    )
  })
})
