import { expect, it } from 'vitest'
import { durationOf, durationsOf, percentile } from '../../../console/agents/run-figures.ts'
import { anExecutionRecord } from '../../browser/stub/records.ts'

it('a percentile is a value of the list', () => {
  expect([percentile([], 0.5), percentile([7], 0.99)]).toEqual([null, 7])
  expect([0.5, 0.9, 1].map((part) => percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], part))).toEqual([5, 9, 10])
})

it('a run that is not final, or whose result was reused, has no duration', () => {
  const cached = anExecutionRecord(2, { cached: true })
  const open = anExecutionRecord(3, { status: 'IN_PROGRESS', finishedAt: null })
  expect([durationOf(cached), durationOf(open)]).toEqual([null, null])
  expect(durationsOf([anExecutionRecord(1), cached, open])).toEqual([500])
})
