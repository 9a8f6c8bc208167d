import { describe, expect, it } from 'vitest'
import { withoutNames } from '../../../console/trials/verdicts.ts'
import { describeGate } from '../../../console/versions/gate.tsx'

describe('describeGate', () => {
  it('names each limit', () => {
    const gate = { minRuns: 100, maxRegressed: 0, maxChanged: 5, maxError: 1, maxCostIncrease: 0.1 }
    expect(describeGate({ require: 'trial', ...gate })).toEqual([
      'at least 100 runs',
      'at most 0 regressed',
      'at most 5 changed',
      'at most 1 failed or diverged',
      'costs at most 10% more',
    ])
  })

  it('is empty if a trial only has to exist', () => {
    expect(describeGate({ require: 'trial' })).toEqual([])
  })
})

describe('withoutNames', () => {
  it('leaves out what the document calls a limit', () => {
    expect(withoutNames('3 runs changed; at most 0 may (maxChanged). The trial has 1 run (minRuns).')).toBe(
      '3 runs changed; at most 0 may. The trial has 1 run.',
    )
  })
})
