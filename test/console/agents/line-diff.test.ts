import { expect, it } from 'vitest'
import { foldLines } from '../../../console/agents/compare-page.tsx'

const KINDS = { '+': 'added', '-': 'removed', '.': 'same' } as const

/** Three unchanged lines around a difference are shown, and the others folded, but never a single line. */
it.each([
  ['......+......', ['0 to 3, folded', '3 to 10', '10 to 13, folded']],
  ['-......+', ['0 to 8']],
  ['....+', ['0 to 1', '1 to 5']],
  ['.....', ['0 to 5, folded']],
])('the lines %s are shown as %j', (kinds, expected) => {
  const lines = [...kinds].map((kind) => ({ kind: KINDS[kind as keyof typeof KINDS], text: 'x' }))
  const parts = foldLines(lines).map(({ start, lines: { length }, isFolded }) => {
    return `${start} to ${start + length}${isFolded ? ', folded' : ''}`
  })
  expect(parts).toEqual(expected)
})
