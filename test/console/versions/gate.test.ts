import { expect, it } from 'vitest'
import { describeGate } from '../../../console/versions/gate.tsx'

it('describeGate names each limit, and none if a trial only has to exist', () => {
  const gate = { minRuns: 100, maxRegressed: 0, maxChanged: 5, maxError: 1, maxCostIncrease: 0.1 }
  expect(describeGate({ require: 'trial', ...gate })).toEqual([
    'at least 100 runs',
    'at most 0 regressed',
    'at most 5 changed',
    'at most 1 failed or diverged',
    'costs at most 10% more',
  ])
  expect(describeGate({ require: 'trial' })).toEqual([])
})
