import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffTexts } from '../../../console/compare/word-diff.tsx'

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
