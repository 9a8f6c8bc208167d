import { describe, expect, it } from 'vitest'
import { formatInZone } from '../../../console/components/format.ts'
import {
  describeCatchUp,
  outcomeOf,
  previewTimes,
  problemsByField,
  sortSchedules,
  toBody,
  toEnabledBody,
  toForm,
} from '../../../console/schedules/schedules.ts'
import { aRunSummary, aSchedule } from '../../browser/stub/records.ts'

describe('toBody', () => {
  it('keeps what the form does not edit', () => {
    const schedule = aSchedule({ options: { maxTokens: 5 }, version: 'v', enabled: false, tenantId: 'acme' })
    const form = toForm(schedule, 'UTC', '{"a": 1}')
    expect(JSON.parse(toBody({ ...form, cron: ' @daily ' }, schedule))).toEqual({
      ...{ cron: '@daily', timezone: 'America/New_York', tenantId: 'acme', overlap: 'skip' },
      ...{ catchUpSeconds: 3_600, options: { maxTokens: 5 }, version: 'v', enabled: false, input: { a: 1 } },
    })
  })

  it('sends the input as it was typed', () => {
    const form = toForm(null, 'Europe/Berlin', '{"id": 12345678901234567890}')
    expect(toBody(form, null)).toContain('"input":{"id": 12345678901234567890}')
    expect(toBody(form, null)).toContain('"timezone":"Europe/Berlin"')
    expect(JSON.parse(toBody({ ...form, input: ' ' }, null)).input).toEqual({})
  })
})

it('toEnabledBody changes nothing else', () => {
  const schedule = aSchedule({ options: { useCache: true }, tenantId: 'acme' })
  const body = JSON.parse(toEnabledBody(schedule, false))
  expect(body).toMatchObject({ enabled: false, options: { useCache: true }, tenantId: 'acme' })
  expect(Object.keys(body)).not.toContain('firings')
})

it('problemsByField puts messages below the fields that they are about', () => {
  expect(
    problemsByField([
      { path: '/cron', message: '/cron: the hour "25" is invalid.' },
      { path: '/timezone', message: '/timezone must be a zone.' },
      { path: '/input/day', message: '/input/day is required.' },
      { path: '/options/model', message: 'No such model.' },
    ]),
  ).toEqual({
    cron: ['The hour "25" is invalid.'],
    timezone: ['Must be a zone.'],
    input: ['/input/day is required.'],
    '': ['No such model.'],
  })
})

it('sortSchedules begins with the next to fire; paused ones come last', () => {
  const [late, soon, paused] = [
    aSchedule({ name: 'late' }),
    aSchedule({ name: 'soon', nextRunAt: '2026-11-26T10:00:00.000Z' }),
    aSchedule({ name: 'paused', nextRunAt: null }),
  ]
  expect(sortSchedules([paused, late, soon]).map(({ name }) => name)).toEqual(['soon', 'late', 'paused'])
})

it('describeCatchUp knows usual times and others', () => {
  expect([3_600, 7_200].map(describeCatchUp)).toEqual(['Up to an hour late', 'Up to 2 h late'])
})

describe('previewTimes', () => {
  const now = Date.parse('2026-11-25T12:00:00Z')

  it('has the next five times, in the zone of the rule, if there are any', () => {
    const times = previewTimes(' 30 2 * * * ', 'America/New_York', now) ?? []
    expect(times.map((time) => new Date(time).toISOString()).slice(0, 2)).toEqual([
      '2026-11-26T07:30:00.000Z',
      '2026-11-27T07:30:00.000Z',
    ])
    expect(times).toHaveLength(5)
    expect(previewTimes('@daily', 'UTC', now)).toHaveLength(5)
    expect(previewTimes('0 0 30 2 *', 'UTC', now)).toEqual([])
  })

  it.each([
    ['30 25 * * *', 'UTC'],
    ['0 0 L * *', 'UTC'],
    ['* * * * *', 'Nowhere'],
  ])('is null for what is not valid: %j in %j', (cron, zone) => {
    expect(previewTimes(cron, zone, now)).toBeNull()
  })
})

it('formatInZone uses the zone, and UTC for one that it does not know', () => {
  expect(formatInZone('2026-11-27T07:30:00.000Z', 'America/New_York')).toMatch(/0?2:30/)
  expect(formatInZone('2026-11-27T07:30:00.000Z', 'Nowhere')).toMatch(/0?7:30.*UTC/)
})

it('outcomeOf tells how a run ended that is known, and otherwise what became of the time', () => {
  const stateOf = (status: 'STARTED' | 'SKIPPED' | 'MISSED' | 'FAILED', run?: object) => {
    const firing = { scheduledFor: '2026-11-20T09:00:00Z', status, executionId: null, code: null }
    return outcomeOf(firing, run && aRunSummary(1, run)).state
  }
  expect((['STARTED', 'SKIPPED', 'MISSED', 'FAILED'] as const).map((each) => stateOf(each))).toEqual([
    ...['open', 'none', 'error', 'error'],
  ])
  const failed = { status: 'ERROR', error: { code: 'AgentFailed', message: '' } }
  const cancelled = { status: 'ERROR', error: { code: 'Cancelled', message: '' } }
  const runs = [{}, failed, cancelled, { status: 'IN_PROGRESS' }]
  expect(runs.map((run) => stateOf('STARTED', run))).toEqual(['success', 'error', 'none', 'open'])
})
