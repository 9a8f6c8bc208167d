import { describe, expect, test } from 'vitest'
import run from '../../../agents/redact-pii/agent.ts'
import { medianCpuTimes } from '../../support/processes/processes.ts'

const LENGTH = 2_000_000
const GROWTH = 4
/** Linear time grows by a factor of 4, quadratic time by 16. */
const MAX_GROWTH = 10

const PROSE = 'The quick brown fox, on 2015-12-31 at 10:30. '

const fillWith = (unit: string, length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** Medians of three runs. Processor time, because other tests run at the same time. */
const measure = (unit: string, lengths: number[]) =>
  medianCpuTimes(
    lengths,
    (length) => {
      const content = fillWith(unit, length)
      return () => void run({ content })
    },
    3,
  )

/** Repeated, these take hours in an implementation that backtracks or rescans. */
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

describe('run on two million characters', () => {
  test.each(UNITS)(
    'takes linear time on repetitions of %j',
    (unit) => {
      const [quarter = 0, whole = 0] = measure(unit, [LENGTH / GROWTH, LENGTH])
      // A quarter that takes almost no time is too noisy as a baseline; prose of the same length is the minimum.
      const [prose = 0] = measure(PROSE, [LENGTH / GROWTH])
      expect(whole / Math.max(quarter, prose)).toBeLessThan(MAX_GROWTH)
    },
    120_000,
  )
})
