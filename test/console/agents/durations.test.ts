import { describe, expect, it } from 'vitest'
import { durationOf, durationsOf, percentile } from '../../../console/agents/durations.ts'
import { anExecutionRecord, aRunSummary } from '../../browser/stub/records.ts'

describe('percentile', () => {
  it('is a value of the list', () => {
    expect(percentile([], 0.5)).toBeNull()
    expect(percentile([7], 0.99)).toBe(7)
    expect([0.5, 0.9, 1].map((part) => percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], part))).toEqual([5, 9, 10])
  })
})

it('durationsOf leaves out runs that no worker has ended', () => {
  const cached = anExecutionRecord(2, { cached: true })
  const open = anExecutionRecord(3, { status: 'IN_PROGRESS', finishedAt: null })
  expect(durationsOf([anExecutionRecord(1), cached, open])).toEqual([500])
})

it('durationOf is unknown for a run that is not final, or whose result was reused', () => {
  const run = aRunSummary(1)
  expect(durationOf(run)).toBe(500)
  expect(durationOf({ ...run, finishedAt: null })).toBe(null)
  expect(durationOf({ ...run, cached: true })).toBe(null)
})
