import { describe, expect, it } from 'vitest'
import { toSearchParams } from '../../../console/state/location.ts'
import { summarizeFields } from '../../../console/trials/field-summary.tsx'
import {
  liveTools,
  needsCostLimit,
  parseForm,
  toFormQuery,
  toTrialBody,
} from '../../../console/trials/trial-form.ts'
import {
  endedOf,
  formatChange,
  parseVerdict,
  stateOf,
  withoutNames,
} from '../../../console/trials/verdicts.ts'
import type { TrialItemRecord } from '../../../lib/contract/records/trial-item.ts'

const itemOf = (...paths: string[]) =>
  ({
    differences: paths.map((path, index) => ({ path, original: index, trial: index + 1 })),
  }) as TrialItemRecord

it('summarizeFields counts the runs in which a field differs, once for all items of a list', () => {
  const items = [
    itemOf('/refund', '/items/0/sku', '/items/10/sku', ''),
    itemOf('/refund'),
    itemOf('/items/2/sku', '/2nd'),
    itemOf(),
  ]
  expect(summarizeFields(items).map(({ path, runs }) => [path, runs])).toEqual([
    ['/refund', 2],
    ['/items/…/sku', 2],
    ['', 1],
    ['/2nd', 1],
  ])
  expect(summarizeFields(items)[0]?.example).toEqual({ path: '/refund', original: 0, trial: 1 })
})

const formOf = (query: string) => parseForm(new URLSearchParams(query))

describe('parseForm', () => {
  it('has the defaults of the service, and live models', () => {
    expect(formOf('agent=triage')).toMatchObject({
      ...{ agent: 'triage', version: '', limit: '100', models: 'live', live: [], feedback: '' },
    })
  })

  it('ignores what an edited URL may contain', () => {
    const form = formOf('feedback=all&models=none&from=yesterday')
    expect(form).toMatchObject({ feedback: '', models: 'live' })
    expect(toTrialBody(form, [])).not.toHaveProperty('from')
  })

  it('reads what toFormQuery has written', () => {
    const text =
      'agent=a&version=v&limit=7&from=2026-11-25T09%3A00&tenantId=acme&feedback=rated&live=x,y&models=recorded&ignore=%2Fa%0A%2Fb&maxCost=0.5'
    const form = formOf(text)
    expect(parseForm(toSearchParams(toFormQuery(form)))).toEqual(form)
  })
})

describe('toTrialBody', () => {
  it('has only what was chosen', () => {
    const body = toTrialBody(formOf('agent=a&maxCost=2'), [])
    expect(body).toEqual({ limit: 100, models: 'live', maxTrialCostUsd: 2 })
  })

  it('has each field of the form', () => {
    const query =
      'limit=7&from=2026-11-25T09:00&to=2026-11-26T09:00&tenantId=acme&feedback=corrected&live=get_order,refund&models=recorded&ignore=/at%0A%0A/b'
    expect(toTrialBody(formOf(query), ['get_order'])).toEqual({
      limit: 7,
      from: new Date('2026-11-25T09:00').toISOString(),
      to: new Date('2026-11-26T09:00').toISOString(),
      tenantId: 'acme',
      feedback: 'corrected',
      // A tool that may not be called is not asked for, whatever the URL says.
      tools: { get_order: 'live' },
      models: 'recorded',
      ignore: ['/at', '/b'],
    })
  })
})

it('offers tools that change nothing, and no agents', () => {
  const tools = [
    { name: 'get_order', readOnly: true, http: {} },
    { name: 'refund', http: {} },
    { name: 'redact', readOnly: true, agent: 'redact-pii' },
  ]
  expect(liveTools({ tools })).toEqual(['get_order'])
})

it('needs a cost limit when models are called', () => {
  expect(needsCostLimit({ models: 'live' }, { code: false })).toBe(true)
  expect(needsCostLimit({ models: 'recorded' }, { code: false })).toBe(false)
  expect(needsCostLimit({ models: 'live' }, { code: true })).toBe(false)
})

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
