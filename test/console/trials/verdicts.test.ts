import { expect, it } from 'vitest'
import {
  endedOf,
  formatChange,
  parseVerdict,
  stateOf,
  withoutNames,
} from '../../../console/trials/verdicts.ts'

const error = (code: string) => ({ code, message: 'x' })
it.each([
  ['IN_PROGRESS', null, 'In progress'],
  ['CANCELLING', null, 'Being cancelled'],
  ['ENDED', null, 'Ended'],
  ['ENDED', error('Cancelled'), 'Cancelled'],
  ['ENDED', error('BudgetExceeded'), 'Stopped at its cost limit'],
  ['ENDED', error('Other'), 'Stopped'],
] as const)('the state of a trial that is %s, %o: %s', (status, cause, label) => {
  expect(stateOf({ status, error: cause }).label).toBe(label)
})

it.each([
  [0, 0, 'the same'],
  [0, 1, 'more'],
  [2, 3, '50% more'],
  [3, 2, '33% less'],
  [1_000, 1_001, '< 1% more'],
  [1, 500, '> 1,000% more'],
])('from %s to %s is %s', (original, trial, text) => {
  expect(formatChange(original, trial)).toBe(text)
})

it('leaves the name of a limit out of a sentence', () => {
  expect(withoutNames('3 runs changed; at most 0 may (maxChanged). The trial has 1 run (minRuns).')).toBe(
    '3 runs changed; at most 0 may. The trial has 1 run.',
  )
  expect(withoutNames('1 DIVERGED, 1 ERROR, 2 CHANGED.')).toBe('1 diverged, 1 failed, 2 changed.')
})

it('counts lines with a result', () => {
  expect(endedOf({ counts: { IN_PROGRESS: 3, SUCCESS: 2, ERROR: 1 } })).toBe(3)
})

it('knows only verdicts of the service', () => {
  expect(parseVerdict('CHANGED')).toBe('CHANGED')
  expect(parseVerdict('toString')).toBeNull()
  expect(parseVerdict(null)).toBeNull()
})
