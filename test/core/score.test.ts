import { describe, expect, it } from 'vitest'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import type { Json } from '../../lib/core/json/json.ts'
import { readScore } from '../../lib/core/score.ts'

describe('readScore', () => {
  it.each([
    [0, 0],
    [1, 1],
    [new ExactNumber('0.12345678901234567890123') as unknown as Json, 0.12345678901234568],
  ])('reads %s', (score, expected) => {
    expect(readScore({ score, reason: 'Because.' })).toEqual({
      score: expected,
      reason: 'Because.',
      error: null,
    })
  })

  it('cuts a long reason, also within a surrogate pair, and ignores one that is no text', () => {
    const { reason } = readScore({ score: 1, reason: `${'x'.repeat(499)}😀` })
    expect(reason).toBe(`${'x'.repeat(499)}\uFFFD`)
    expect(readScore({ score: 1, reason: { a: 1 } }).reason).toBeNull()
  })

  it.each([
    [{}, 'is missing'],
    [{ score: 1.5 }, 'is 1.5'],
    [{ score: -0.1 }, 'is -0.1'],
    [{ score: '0.9' }, 'is "0.9"'],
    [{ score: null }, 'is null'],
    [{ score: Number.NaN }, 'is null'],
    [{ score: [1] }, 'is [1]'],
    [{ score: 'x'.repeat(1_000) }, `is "${'x'.repeat(49)}`],
  ])('has no score for %j', (output, found) => {
    expect(readScore(output)).toEqual({
      score: null,
      reason: null,
      error: {
        code: 'InvalidScore',
        message: `The output of a scorer must have a number from 0 to 1 as score, which ${found}.`,
      },
    })
  })
})
