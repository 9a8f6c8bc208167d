import { describe, expect, it } from 'vitest'
import { checkCron, MAX_CRON_LENGTH } from '../../lib/agents/cron.ts'
import { lastTimes, nextTimes } from '../../lib/cron-times.ts'

const times = (cron: string, timezone: string, from: string, count: number) =>
  nextTimes(cron, timezone, Date.parse(from), count).map(toIso)
const toIso = (time: number) => new Date(time).toISOString().replace(':00.000Z', 'Z')

describe('nextTimes', () => {
  it('skips a fixed local time on the day on which it does not exist', () => {
    const berlin = ['2024-03-30T01:30Z', '2024-04-01T00:30Z', '2024-04-02T00:30Z']
    expect(times('30 2 * * *', 'Europe/Berlin', '2024-03-29T12:00Z', 3)).toEqual(berlin)
    // Clocks change at midnight.
    const beirut = ['2024-03-29T22:00Z', '2024-03-31T21:00Z']
    expect(times('@daily', 'Asia/Beirut', '2024-03-29T00:00Z', 2)).toEqual(beirut)
    // The time zone had no December 30.
    const apia = ['2011-12-29T22:00Z', '2011-12-30T22:00Z']
    expect(times('0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', 2)).toEqual(apia)
  })

  it('fires once at a fixed local time that exists twice', () => {
    const berlin = ['2024-10-27T00:30Z', '2024-10-28T01:30Z']
    expect(times('30 2 * * *', 'Europe/Berlin', '2024-10-26T12:00Z', 2)).toEqual(berlin)
    expect(times('30 1-2 * * *', 'Europe/Berlin', '2024-10-27T00:00Z', 2)).toEqual([
      berlin[0],
      '2024-10-28T00:30Z',
    ])
    // Clocks go back by half an hour.
    const lordHowe = ['2024-04-06T14:45Z', '2024-04-07T15:15Z']
    expect(times('45 1 * * *', 'Australia/Lord_Howe', '2024-04-06T00:00Z', 2)).toEqual(lordHowe)
  })

  it('follows elapsed time with * or a step in the minute or hour', () => {
    const each = ['2024-10-26T23:00Z', '2024-10-27T00:00Z', '2024-10-27T01:00Z', '2024-10-27T02:00Z']
    expect(times('@hourly', 'Europe/Berlin', '2024-10-26T22:30Z', 4)).toEqual(each)
    const twice = ['2024-10-27T00:00Z', '2024-10-27T00:30Z', '2024-10-27T01:00Z', '2024-10-27T01:30Z']
    expect(times('*/30 2 * * *', 'Europe/Berlin', '2024-10-26T12:00Z', 4)).toEqual(twice)
    const across = ['2024-03-31T00:45Z', '2024-03-31T01:00Z', '2024-03-31T01:15Z']
    expect(times('*/15 * * * *', 'Europe/Berlin', '2024-03-31T00:30Z', 3)).toEqual(across)
  })

  it('combines the days of the month and of the week as POSIX does', () => {
    const either = ['2026-11-27T00:00Z', '2026-12-01T00:00Z', '2026-12-04T00:00Z']
    expect(times('0 0 1 * FRI', 'UTC', '2026-11-25T00:00Z', 3)).toEqual(either)
    expect(times('0 0 * JAN FRI', 'UTC', '2026-11-25T00:00Z', 1)).toEqual(['2027-01-01T00:00Z'])
  })

  it('does not include the time from which it starts', () => {
    expect(times('0 0 * * *', 'UTC', '2026-11-25T00:00Z', 1)).toEqual(['2026-11-26T00:00Z'])
    expect(times('0 0 * * *', 'UTC', '2026-11-24T23:59:59.999Z', 1)).toEqual(['2026-11-25T00:00Z'])
  })
})

describe('lastTimes', () => {
  it('returns the latest times of a range, with both of its ends', () => {
    const range = { first: Date.parse('2024-03-30T01:30Z'), last: Date.parse('2024-04-02T00:30Z') }
    const last = (count: number) => lastTimes('30 2 * * *', 'Europe/Berlin', { ...range, count }).map(toIso)
    expect(last(10)).toEqual(['2024-04-02T00:30Z', '2024-04-01T00:30Z', '2024-03-30T01:30Z'])
    expect(last(1)).toEqual(['2024-04-02T00:30Z'])
  })
})

describe('checkCron', () => {
  const problem = (cron: string, timezone = 'Europe/Berlin') =>
    checkCron(cron, timezone)
      .map(({ path, message }) => `${path} ${message}`)
      .join()

  const crons = ['* * * * *', '@DAILY', '0 0 * * FRI-SUN', '5,35 9-17/2 1-15 jan,MAR-may 7', '0 0 29 2 *']
  const zones = ['UTC', 'utc', 'Etc/GMT+5', 'EST', 'MST', 'HST', 'CET', 'EST5EDT', 'GB', 'PRC']
  it.each([
    ...[...crons, '*/60 */24 * * *'].map((cron) => [cron, 'Europe/Berlin'] as const),
    ...zones.map((timezone) => ['@daily', timezone] as const),
  ])('accepts %s in the time zone %s', (cron, timezone) => {
    expect(problem(cron, timezone)).toBe('')
  })

  it.each([
    ['0 * * * * *', 'without seconds'],
    ['* * * *', 'five fields'],
    ['@reboot', '@hourly'],
    ['2026-01-01T00:00:00', 'five fields'],
    ['', 'five fields'],
    ['60 * * * *', 'the minute "60" is invalid. Allowed are * and 0 to 59'],
    ['0 24 * * *', 'the hour "24"'],
    ['0 0 0 * *', 'the day of month "0"'],
    ['0 0 L * *', 'the day of month "L"'],
    ['0 0 15W * *', 'the day of month "15W"'],
    ['0 0 * 13 *', 'the month "13" is invalid. Allowed are * and 1 to 12 or JAN to DEC'],
    ['0 0 * * 5#2', 'the day of week "5#2"'],
    ['0 0 1 * +MON', 'the day of week "+MON"'],
    ['0 0 * * SUN-SUN', 'the day of week "SUN-SUN"'],
    ['? * * * *', 'the minute "?"'],
    ['5/10 * * * *', 'the minute "5/10"'],
    ['*/0 * * * *', 'the minute "*/0"'],
    ['1,,2 * * * *', 'the minute "1,,2"'],
    ['0 22-2 * * *', 'the hour "22-2"'],
    ['0 0 30 2 *', 'does not exist in any year'],
    ['0 0 31 4,6 *', 'does not exist in any year'],
    [`${'0,'.repeat(MAX_CRON_LENGTH)}0 * * * *`, 'at most 500 characters'],
  ])('refuses %s', (cron, message) => {
    expect(problem(cron)).toContain(message)
  })

  it.each([
    ['+01:00', '.'],
    // Abbreviations that ICU knows: Asia/Dhaka, America/Anchorage and America/Los_Angeles.
    ['BST', '.'],
    ['ast', '.'],
    ['SystemV/PST8', '.'],
    ['', '.'],
    ['Mars/Olympus', '.'],
    ['x'.repeat(1_000_000), '.'],
    ['Berlin', '; did you mean Europe/Berlin?'],
    ['Europe/Berln', '; did you mean Europe/Berlin?'],
    ['America/NewYork', '; did you mean America/New_York?'],
  ])('refuses the time zone %.20s', (timezone, hint) => {
    expect(problem('@daily', timezone)).toBe(
      `/timezone timezone must be the name of an IANA time zone, for example Europe/Berlin or UTC${hint}`,
    )
  })
})
