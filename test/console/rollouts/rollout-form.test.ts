import { expect, it } from 'vitest'
import { intervalSince } from '../../../console/rollouts/rollout-figures.tsx'
import { describeRules, newRollout, restOf, toBody, toForm } from '../../../console/rollouts/rollout-form.ts'
import { rolloutBody } from '../../../lib/contract/bodies/agents.ts'

const VERSION = '01a20000-0000-7000-8000-000000000001'
const time = '2026-11-25T09:00:00.000Z'

it('a body without rules has none, and one without a number of runs leaves it to the service', () => {
  const form = newRollout(VERSION)
  expect(toBody(form)).toEqual({ versionId: VERSION, percent: 10, key: 'tenant', abort: null })
  const { abort } = toBody({ ...form, maxErrorRate: '5', minRuns: '' })
  expect(abort).toEqual({ maxErrorRate: 0.05, maxCostIncrease: null, maxScoreDrop: null })
})

it('a body has fractions instead of percentages, and is what the service accepts', () => {
  const form = {
    ...newRollout(VERSION),
    percent: '12.5',
    maxErrorRate: '7',
    maxCostIncrease: '0',
    maxScoreDrop: '0.05',
  }
  const body = toBody({ ...form, minRuns: '200', trial: VERSION })
  expect(body).toEqual({
    ...{ versionId: VERSION, percent: 12.5, key: 'tenant', trial: VERSION },
    abort: { maxErrorRate: 0.07, maxCostIncrease: 0, maxScoreDrop: 0.05, minRuns: 200 },
  })
  expect(rolloutBody.parse(body)).toEqual(body)
})

it('toForm changes nothing on the way to the form and back', () => {
  const abort = { maxErrorRate: null, maxCostIncrease: null, maxScoreDrop: 0.02, minRuns: 50 }
  const settings = { versionId: VERSION, percent: 33.33, key: 'execution' as const, abort }
  const record = { ...settings, documentId: VERSION, currentVersionId: VERSION }
  expect(toBody(toForm({ ...record, startedAt: time, updatedAt: time }))).toEqual(settings)
})

it('restOf has no digits that nobody entered', () => {
  expect([restOf(33.33), restOf(99.99)]).toEqual([66.67, 0.01])
})

it('describeRules names each rule, or says that there is none', () => {
  expect(describeRules(null)).toEqual(['The service does not end it automatically.'])
  const rules = { maxErrorRate: null, maxCostIncrease: 0.5, maxScoreDrop: 0.05, minRuns: 20 }
  expect(describeRules(rules)).toEqual([
    'The service ends it when a run costs over 50% more than one of the current version in the same time, after at least 20 runs.',
    'The service ends it when a mean score is certainly lower than that of the current version by over 0.05, after at least 20 runs.',
  ])
})

it.each([
  ['minute', '2026-11-25T10:59:30.000Z', time],
  ['hour', '2026-11-26T10:59:30.000Z', time],
  ['day', '2027-01-26T10:59:30.000Z', '2026-11-25T00:00:00.000Z'],
])('totals of a rollout are read by %s', (interval, now, from) => {
  expect(intervalSince(time, Date.parse(now))).toEqual({ interval, from })
})
