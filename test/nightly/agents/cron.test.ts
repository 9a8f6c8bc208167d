import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastTimes, nextTimes } from '../../../lib/cron-times.ts'
import { hasPython } from '../../support/processes/python-environment.ts'
import { pythonOfTests } from '../../support/processes/python-of-tests.ts'

const SCRIPT = fileURLToPath(new URL('python/enumerate_minutes.py', import.meta.url))
const MINUTE_MS = 60_000

/** Whose past all versions of the time zone database of the last years agree on. */
const YEARS = { first: 2000, last: 2024 }

/** Changes that are unlike those of most time zones, each in a year that has one. */
const SPECIAL: [string, number][] = [
  ['Australia/Lord_Howe', 2019], // 30 minutes
  ['Pacific/Apia', 2011], // skips December 30
  ['Europe/Dublin', 2021], // negative in winter
  ['Africa/Casablanca', 2022], // back during Ramadan
  ['Asia/Beirut', 2020], // at midnight
  ['America/Havana', 2018],
  ['America/Santiago', 2019],
  ['America/Asuncion', 2020],
  ['Africa/Cairo', 2014], // four changes
  ['Africa/Cairo', 2023],
  ['Asia/Gaza', 2023],
  ['Asia/Tehran', 2016],
  ['Asia/Amman', 2021],
  ['Asia/Pyongyang', 2015], // half an hour, once
  ['America/Caracas', 2016],
  ['America/St_Johns', 2006], // at one minute past midnight, from half an hour
  ['Antarctica/Troll', 2020], // two hours
  ['Antarctica/Casey', 2010], // three hours, once
  ['Pacific/Fakaofo', 2011], // skips a day
  ['Asia/Kathmandu', 2020], // 45 minutes, no changes
  ['Asia/Kolkata', 2020],
  ['Pacific/Chatham', 2020],
  ['America/Sao_Paulo', 2017],
  ['Europe/Istanbul', 2016],
  ['America/Nuuk', 2023],
  ['UTC', 2020],
]

/** Mostly the hours in which clocks change. */
const hour = fc.oneof({ weight: 4, arbitrary: fc.nat(4) }, { weight: 1, arbitrary: fc.nat(23) })
const minute = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 15, 30, 45, 59) },
  { weight: 1, arbitrary: fc.nat(59) },
)
const rangeOf = (value: fc.Arbitrary<number>) =>
  fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
const stepped = (text: fc.Arbitrary<string>, from: number, to: number) =>
  fc.tuple(text, fc.integer({ min: from, max: to })).map(([range, step]) => `${range}/${step}`)
const listOf = (value: fc.Arbitrary<number>) =>
  fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => values.join())
const everyDay = fc.constant('*')

const minutes = fc.oneof(
  { weight: 5, arbitrary: listOf(minute) },
  { weight: 2, arbitrary: stepped(fc.constant('*'), 7, 60) },
  stepped(rangeOf(minute), 7, 60),
  rangeOf(minute),
)
const hours = fc.oneof(
  { weight: 5, arbitrary: listOf(hour) },
  { weight: 2, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: stepped(fc.constant('*'), 1, 24) },
  { weight: 2, arbitrary: rangeOf(hour) },
  stepped(rangeOf(hour), 1, 24),
)
const days = fc.oneof(
  { weight: 6, arbitrary: everyDay },
  listOf(fc.integer({ min: 1, max: 31 })),
  stepped(fc.constant('*'), 1, 31),
)
const months = fc.oneof(
  { weight: 8, arbitrary: everyDay },
  fc.constantFrom('MAR,OCT', 'apr-sep', '*/2', '3,4,9-11', 'JAN-DEC/3'),
)
const weekdays = fc.oneof(
  { weight: 6, arbitrary: everyDay },
  fc.constantFrom('SUN', '0', '7', 'FRI-SUN', 'mon-fri', '*/2', '5-7', '1-6/2', 'SAT,SUN'),
)
const rule = fc.oneof(
  { weight: 19, arbitrary: fc.tuple(minutes, hours, days, months, weekdays).map((all) => all.join(' ')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('* * * * *', '*/5 * * * *', '@hourly', '@daily', '@weekly', '@monthly'),
  },
)

type Case = { timezone: string; year: number; rules: string[] }
type Window = { first: number; last: number; offsets: [number, number]; times: number[][] }

const rules = fc.array(rule, { minLength: 6, maxLength: 6 })
const anyCase = fc.record({
  timezone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  year: fc.integer({ min: YEARS.first, max: YEARS.last }),
  rules,
})

const SEED = Date.now()
const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) =>
  fc.sample(arbitrary, { seed: SEED, numRuns })

// The time zone database is installed with pip, so that its version does not depend on the machine.
describe.skipIf(!(await hasPython()))('the times of a rule, by minutes that Python enumerates', () => {
  const python = pythonOfTests(new URL('python/requirements.txt', import.meta.url))

  function enumerate(cases: Case[]): Window[][] {
    const env = { PYTHONTZPATH: '' }
    const options = { input: JSON.stringify(cases), encoding: 'utf8', env, maxBuffer: 1e9 } as const
    const { stdout, stderr } = spawnSync(python(), [SCRIPT], options)
    if (stderr) throw new Error(stderr)
    return JSON.parse(stdout)
  }

  /** @returns the number of times that were compared */
  function compare(cases: Case[]): number {
    let compared = 0
    for (const [index, windows] of enumerate(cases).entries())
      for (const window of windows) compared += compareWindow(cases[index] as Case, window)
    return compared
  }

  it('around the changes of time zones that are special', () => {
    const cases = SPECIAL.map(([timezone, year], index) => ({
      timezone,
      year,
      rules: sample(rules, 100)[index] ?? [],
    }))
    expect(compare(cases)).toBeGreaterThan(1_000)
  })

  it('around the changes of any time zone', () => {
    expect(compare(sample(anyCase, 60))).toBeGreaterThan(1_000)
  })
})

function compareWindow(
  { timezone, rules: expressions }: Case,
  { first, last, offsets, times }: Window,
): number {
  const [start, end] = [first * MINUTE_MS, last * MINUTE_MS]
  const own = [start, end].map((time) => offsetOf(timezone, time))
  if (own.join() !== offsets.join())
    throw new Error(
      `Node.js (tz ${process.versions.tz}) and Python have different offsets of ${timezone} at ${new Date(start).toISOString()}: ${own} and ${offsets}. Their time zone databases differ.`,
    )
  for (const [index, cron] of expressions.entries()) {
    const expected = (times[index] ?? []).map((time) => new Date(time * MINUTE_MS).toISOString())
    const found = nextTimes(cron, timezone, start - 1, expected.length + 1).filter((time) => time <= end)
    const label = `${cron} in ${timezone}, seed ${SEED}`
    expect(found.map(toIso), label).toEqual(expected)
    const past = lastTimes(cron, timezone, { first: start, last: end, count: expected.length + 1 })
    expect(past.reverse().map(toIso), `${label}, backwards`).toEqual(expected)
  }
  return times.flat().length
}

const toIso = (time: number) => new Date(time).toISOString()

/** In minutes. */
function offsetOf(timeZone: string, time: number): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const { value = '' } = format.formatToParts(time).find(({ type }) => type === 'timeZoneName') ?? {}
  const [, sign, hoursText, minutesText] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(value) ?? []
  const minutesOf = Number(hoursText ?? 0) * 60 + Number(minutesText ?? 0)
  return sign === '-' ? -minutesOf : minutesOf
}
