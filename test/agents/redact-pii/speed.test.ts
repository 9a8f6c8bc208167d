import { describe, expect, test } from 'vitest'
import run from '../../../agents/redact-pii/agent.ts'

const LENGTH = 2_000_000
const GROWTH = 4
/** What is linear grows by 4, what is quadratic by 16. */
const MAX_GROWTH = 10

const PROSE = 'The quick brown fox, on 2015-12-31 at 10:30. '

const filledWith = (unit: string, length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** The best of three, in milliseconds. */
function timeOf(content: string): number {
  const times = [1, 2, 3].map(() => {
    const start = performance.now()
    run({ content })
    return performance.now() - start
  })
  return Math.min(...times)
}

/** Texts on which backtracking or rescanning takes hours. */
const UNITS = [
  'a',
  'a.',
  '@',
  'a@',
  'a@b.',
  '"@',
  'a@[1',
  '=',
  '漢@',
  '1',
  '1 ',
  '1-',
  '12.',
  '0011',
  '+',
  '+1',
  '(',
  ':',
  'a:',
  '1:',
  'DE89',
  '4111 ',
  '123456789 ',
  '[US_SSN',
  ' ',
  '\n',
  '\ud83d',
  PROSE,
]

describe('run on two megabytes', () => {
  test.each(UNITS)(
    'of %j takes no more than a linear share more than on a quarter of it',
    (unit) => {
      // Where a quarter is read in no time, noise is no growth: prose of that length is the yardstick then.
      const quarter = Math.max(
        timeOf(filledWith(unit, LENGTH / GROWTH)),
        timeOf(filledWith(PROSE, LENGTH / GROWTH)),
      )
      expect(timeOf(filledWith(unit, LENGTH)) / quarter).toBeLessThan(MAX_GROWTH)
    },
    120_000,
  )
})
