import { describe, expect, test } from 'vitest'
import run from '../../../agents/redact-pii/agent.ts'

const LENGTH = 5_000_000
const filledWith = (unit: string) => unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH)

/** Texts on which backtracking or rescanning takes hours; read once they take a second or two. */
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
  'The quick brown fox, on 2015-12-31 at 10:30. ',
]

describe('run on five megabytes', () => {
  test.each(UNITS)('of %j takes seconds at most', (unit) => {
    const content = filledWith(unit)
    const start = performance.now()
    run({ content })
    // Several times what a slow machine needs; what is quadratic would take hours.
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
