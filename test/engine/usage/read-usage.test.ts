import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { encodeCursor } from '../../../lib/core/cursor.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import type { AgentStore } from '../../../lib/core/ports/agents.ts'
import {
  DIMENSION_FIELDS,
  INTERVAL_MS,
  startOf,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageInterval,
  type UsageRow,
} from '../../../lib/core/usage.ts'
import { type GroupUsage, readUsage, type UsageQuery } from '../../../lib/engine/usage/read-usage.ts'
import { aUsageRow, memoryUsage, sumUsage } from '../../support/usage/memory-usage.ts'

const ORGANIZATION = '01a2003b-8f87-750a-aa33-59d20cae9811'
const ACCESS = { ...UNLIMITED, organizationId: ORGANIZATION, tokenId: 'token' }
const NOW = Date.parse('2026-11-25T10:30:20.500Z')
const { minute: MINUTE, hour: HOUR, day: DAY } = INTERVAL_MS
const [YESTERDAY, TODAY] = ['2026-11-24T10:00:00.000Z', '2026-11-25T10:00:00.000Z']

/** Knows every agent. */
const agents = { get: async ({ id }: { id: string }) => ({ id }) } as unknown as AgentStore

type Usage = ReturnType<typeof memoryUsage>

const readPage = (usage: Usage, query: UsageQuery, access = ACCESS, maxRows = 1_000_000, now = NOW) =>
  readUsage({ agents, usage, system: { now: () => now } }, { access, query }, { maxRows })

/** All pages, with the times of the first one. */
async function readAll(usage: Usage, query: UsageQuery, access = ACCESS, maxRows?: number) {
  const items: GroupUsage[] = []
  let cursor: string | undefined
  let times: Pick<UsageQuery, 'from' | 'to'> = {}
  do {
    const { page, range } = await readPage(usage, { ...query, ...times, cursor }, access, maxRows)
    items.push(...page.items)
    times = { from: iso(range.from), to: iso(range.to) }
    const next = page.next ? encodeCursor(page.next) : undefined
    if (next !== undefined && next === cursor) throw new Error('The page after a cursor ends where it began.')
    cursor = next
  } while (cursor !== undefined)
  return items
}

const rowsOf = (tenants: string[]) => tenants.map((tenantId) => aUsageRow({ tenantId }))
const iso = (ms: number) => new Date(ms).toISOString()
const runsOf = (rows: GroupUsage[]) => rows.map(({ start, runs }) => [iso(start), runs])

/** Writes the totals of rows as the fold does, without those of shorter intervals that may have expired. */
function fold(
  rows: { at: number; row: UsageRow }[],
  position: Record<UsageInterval, number>,
  read: UsageInterval,
): Usage {
  const usage = memoryUsage(position)
  for (const [interval, before] of [
    ['day', position.day],
    ['hour', position.hour],
    ['minute', Number.POSITIVE_INFINITY],
  ] as const) {
    const longer = { day: 0, hour: read === 'day' ? position.day : 0, minute: position.hour }[interval]
    const folded = rows.filter(({ at }) => at < before && at >= longer)
    const slots = Map.groupBy(folded, ({ at }) => startOf(interval, at))
    for (const [start, group] of slots)
      usage.put(ORGANIZATION, interval, start, sumUsage(group.map(({ row }) => row)) as UsageRow[])
  }
  return usage
}

const oneOf = (...values: (string | null)[]) => fc.constantFrom(...values)
const arbitraryRow = fc
  .record({
    ...{
      tenantId: oneOf(null, 'acme', 'a"c,me', '😀', '\u{1F600}\uFFFF'),
      agentId: fc.constantFrom('a', 'b'),
    },
    ...{ versionId: fc.constantFrom('1', '2'), model: oneOf(null, 'm'), tokenId: oneOf(null, 't') },
    ...{ costNanoUsd: fc.nat(), inputTokens: fc.nat(1000), errors: fc.constantFrom({}, { AgentFailed: 1 }) },
  })
  .map(aUsageRow)

describe('readUsage', () => {
  it('adds up every run once, wherever the totals of its interval are, whatever the pages', async () => {
    const arbitrary = fc.record({
      rows: fc.array(fc.record({ age: fc.nat(50 * HOUR), row: arbitraryRow }), { maxLength: 40 }),
      lag: fc.tuple(fc.nat(5), fc.nat(3), fc.nat(2)),
      interval: fc.constantFrom<UsageInterval>('hour', 'day'),
      groupBy: fc.subarray([...USAGE_DIMENSIONS]).chain((dimensions) => fc.shuffledSubarray(dimensions)),
      range: fc.tuple(fc.nat(50 * HOUR), fc.nat(50 * HOUR)).filter(([a, b]) => a !== b),
      limit: fc.integer({ min: 1, max: 10 }),
      maxRows: fc.integer({ min: 1, max: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ rows, lag, interval, groupBy, range, limit, maxRows }) => {
        const minute = startOf('minute', NOW) - (6 + lag[0]) * MINUTE
        const hour = Math.min(startOf('hour', minute), startOf('hour', NOW) - lag[1] * HOUR)
        const day = Math.min(startOf('day', hour), startOf('day', NOW - lag[2] * DAY))
        const position = { minute, hour, day }
        const timed = rows.map(({ age, row }) => ({ at: NOW - age, row }))
        const [to, from] = [NOW - Math.min(...range), NOW - Math.max(...range)]
        const query = { groupBy, interval, limit, from: iso(from), to: iso(to) }
        const [first, last] = [startOf(interval, from), startOf(interval, to - 1)]
        const selected = timed.filter(({ at }) => at >= first && at < last + INTERVAL_MS[interval])
        const byStart = Map.groupBy(selected, ({ at }) => startOf(interval, at))
        const expected = [...byStart].flatMap(([start, group]) => {
          const sums = sumUsage(
            group.map(({ row }) => row),
            groupBy,
          )
          return sums.map((row) => ({ start, ...row }))
        })
        const items = await readAll(fold(timed, position, interval), query, ACCESS, maxRows)
        expect(items).toEqual(sorted(expected, groupBy))
      }),
    )
  })

  it('reads final intervals from their totals, and the rest from shorter ones', async () => {
    const day = startOf('day', NOW)
    const usage = memoryUsage({ minute: NOW - 7 * MINUTE, hour: day + 9 * HOUR, day })
    await readPage(usage, { interval: 'day', from: '2026-11-01T00:00:00Z' })
    expect(usage.reads).toEqual([
      { interval: 'day', from: Date.parse('2026-11-01'), to: day },
      { interval: 'hour', from: day, to: day + 9 * HOUR },
      { interval: 'minute', from: day + 9 * HOUR, to: day + DAY },
    ])
  })

  it('reads minutes before anything is final, but no more than there can be', async () => {
    const usage = memoryUsage()
    usage.put(ORGANIZATION, 'minute', NOW - 20_500, [aUsageRow()])
    const items = await readAll(usage, { interval: 'day', from: iso(NOW - 799 * DAY) })
    expect(runsOf(items)).toEqual([['2026-11-25T00:00:00.000Z', 1]])
    const range = { from: startOf('minute', NOW - 2 * DAY), to: startOf('day', NOW) + DAY }
    expect(usage.reads).toEqual([{ interval: 'minute', ...range }])
  })

  it.each<[string, UsageQuery, string[]]>([
    ['the last 24 hours by default', {}, [YESTERDAY, TODAY]],
    ['an hour by minute', { interval: 'minute' }, [TODAY]],
    ['times at the borders of intervals', { from: YESTERDAY, to: TODAY }, [YESTERDAY]],
    [
      'a millisecond more',
      { from: '2026-11-24T10:59:59.999Z', to: '2026-11-25T10:00:00.001Z' },
      [YESTERDAY, TODAY],
    ],
    ['another time zone', { from: '2026-11-25T11:00:00+01:00' }, [TODAY]],
    ['a time to come', { from: '2026-11-26T00:00:00Z', to: '9999-12-31T23:59:59Z' }, []],
    ['until a time to come', { from: TODAY, to: '9999-12-31T23:59:59Z' }, [TODAY]],
    ['the day before a time', { to: '2026-11-25T10:00:00Z' }, [YESTERDAY]],
  ])('reads %s', async (_, query, starts) => {
    const usage = memoryUsage()
    for (const time of ['2026-11-24T09:59:00Z', YESTERDAY, TODAY])
      usage.put(ORGANIZATION, 'minute', Date.parse(time), [aUsageRow()])
    expect(runsOf(await readAll(usage, query)).map(([start]) => start)).toEqual(starts)
  })

  it.each<[UsageQuery, string, string]>([
    [{ from: iso(NOW), to: iso(NOW) }, 'from', 'from must be before to.'],
    [{ from: '2026-10-25T09:59:59Z' }, 'from', 'from must be at most 31 days before to with interval=hour.'],
    [
      { from: '2026-08-01T00:00:00Z', to: '2026-08-02T00:00:00Z' },
      'from',
      'from must be within the last 100 days with interval=hour.',
    ],
    [{ to: '2020-01-01T00:00:00Z' }, 'to', 'to must be within the last 100 days with interval=hour.'],
    [
      { interval: 'minute', from: '2026-11-25T07:29:59Z' },
      'from',
      'from must be at most 3 hours before to with interval=minute.',
    ],
    [
      { interval: 'minute', from: '2026-11-23T10:28:59Z', to: '2026-11-23T10:31:00Z' },
      'from',
      'from must be within the last 2 days with interval=minute.',
    ],
    [
      { interval: 'day', from: '0001-01-01T00:00:00Z' },
      'from',
      'from must be within the last 800 days with interval=day.',
    ],
  ])('rejects %j', async (query, path, message) => {
    const error = { code: 'InvalidQueryParameter', errors: [{ path, message }] }
    await expect(readPage(memoryUsage(), query)).rejects.toMatchObject(error)
  })

  it.each<UsageQuery>([
    { from: '2026-10-25T10:30:20.500Z' },
    { from: iso(NOW - 100 * DAY), to: iso(NOW - 99 * DAY) },
    { interval: 'minute', from: '2026-11-25T07:30:20.500Z' },
    { interval: 'minute', from: iso(NOW - 2 * DAY), to: iso(NOW - 2 * DAY + HOUR) },
    { interval: 'day', from: iso(NOW - 800 * DAY) },
  ])('accepts the longest range, and the rounded times of its further pages: %j', async (query) => {
    const { interval = 'hour' } = query
    const { page, range } = await readPage(memoryUsage(), query)
    expect(page).toEqual({ items: [], next: null })
    const times = { from: iso(range.from), to: iso(range.to) }
    for (const later of [0, INTERVAL_MS[interval]]) {
      const next = await readPage(memoryUsage(), { ...query, ...times }, ACCESS, 1, NOW + later)
      expect(next.range).toEqual(range)
    }
  })

  describe('with groups of agents and tenants', () => {
    const own = agentIdOf(ORGANIZATION, 'own')
    const other = agentIdOf(ORGANIZATION, 'other')
    const usage = memoryUsage()
    const start = startOf('minute', NOW)
    const values = [own, other].flatMap((agentId) =>
      ['acme', 'globex', null].map((tenantId) => aUsageRow({ agentId, tenantId })),
    )
    usage.put(ORGANIZATION, 'minute', start, values)
    usage.put('another organization', 'minute', start, [aUsageRow({ agentId: own, tenantId: 'secret' })])
    const groupBy: UsageDimension[] = ['tenant', 'agent']
    const groupsOf = async (query: UsageQuery, access = ACCESS) => {
      const items = await readAll(usage, { groupBy, ...query }, access)
      return items.map(({ tenantId, agentId }) => [tenantId, agentId])
    }

    it('shows each group, null first', async () => {
      const ids = [own, other].sort()
      expect(await groupsOf({})).toEqual(
        [null, 'acme', 'globex'].flatMap((tenantId) => ids.map((agentId) => [tenantId, agentId])),
      )
    })

    it('filters by tenant and agent', async () => {
      expect(await groupsOf({ tenantId: 'acme', agent: 'own' })).toEqual([['acme', own]])
      expect(await groupsOf({ tenantId: 'unknown' })).toEqual([])
    })

    it('shows a token its tenant and its agents only', async () => {
      const access = { ...ACCESS, tenantId: 'acme', agents: ['own'] }
      expect(await groupsOf({}, access)).toEqual([['acme', own]])
      expect(await groupsOf({ tenantId: 'acme' }, access)).toEqual([['acme', own]])
      await expect(groupsOf({ tenantId: 'globex' }, access)).rejects.toMatchObject({ code: 'Forbidden' })
      await expect(groupsOf({ agent: 'other' }, access)).rejects.toMatchObject({ code: 'AgentNotFound' })
      const [sum] = await readAll(usage, {}, access)
      expect(sum?.runs).toBe(1)
    })

    it('rejects cursors of other lists, and such that were changed', async () => {
      const { page } = await readPage(usage, { groupBy, limit: 1 })
      const cursor = encodeCursor(page.next as { order: string })
      const [time, dimensions, json] = (page.next?.order ?? '').split('#') as [string, string, string]
      const orders = [
        ORGANIZATION,
        ...[`tenant#["acme"]`, `agent,tenant#${json}`].map((end) => `${time}#${end}`),
        ...['["acme"]', '[1,{}]', '['].map((group) => `${time}#${dimensions}#${group}`),
        `${time.replace(':00:00', ':00:01')}#${dimensions}#${json}`,
        `2026-99-99T10:00:00.000Z#${dimensions}#${json}`,
      ].map((order) => encodeCursor({ order }))
      const refused = { errors: [{ path: 'cursor' }] }
      for (const wrong of [`${cursor}A`, cursor.slice(0, -1), ...orders, 'x'.repeat(3_000), ''])
        await expect(readPage(usage, { groupBy, cursor: wrong }), wrong).rejects.toMatchObject(refused)
    })

    it('shows the own usage after the cursor of another organization', async () => {
      const access = { ...ACCESS, organizationId: 'another organization' }
      const { page } = await readPage(usage, { groupBy, limit: 1 })
      expect(page.next).not.toBeNull()
      const cursor = encodeCursor(page.next as { order: string })
      const { page: next } = await readPage(usage, { groupBy, cursor }, access)
      expect(next.items.map(({ tenantId }) => tenantId)).toEqual(['secret'])
    })

    it('continues after a group that has vanished, and shows one that has appeared', async () => {
      const changing = memoryUsage()
      const put = (...tenants: string[]) => changing.put(ORGANIZATION, 'minute', start, rowsOf(tenants))
      put('a', 'c', 'e')
      const query: UsageQuery = { groupBy: ['tenant'], limit: 2 }
      const { page } = await readPage(changing, query)
      put('a', 'b', 'd', 'e')
      const cursor = encodeCursor(page.next as { order: string })
      const { page: next } = await readPage(changing, { ...query, cursor })
      expect(next.items.map(({ tenantId }) => tenantId)).toEqual(['d', 'e'])
    })
  })

  it('ends a page, which may be empty, when it has added up many rows', async () => {
    const usage = memoryUsage()
    const hours = [4, 3, 2, 1].map((age) => startOf('hour', NOW) - age * HOUR)
    const rows = rowsOf(Array.from({ length: 10 }, (_, index) => `t${index}`))
    for (const start of hours) usage.put(ORGANIZATION, 'minute', start, rows)
    const query: UsageQuery = { tenantId: 'none', groupBy: ['tenant'] }
    const { page } = await readPage(usage, query, ACCESS, 15)
    expect(page).toEqual({ items: [], next: { order: `${iso(hours[2] ?? 0)}#tenant#null` } })
    expect(await readAll(usage, { ...query, tenantId: 't3' }, ACCESS, 15)).toHaveLength(4)
  })

  it('pages through 10,000 groups with the longest names', async () => {
    const usage = memoryUsage()
    const nameOf = (number: number) => `"${'😀'.repeat(122)}${String(number).padStart(5, '0')}`
    const tenants = Array.from({ length: 10_000 }, (_, number) => nameOf(number))
    usage.put(ORGANIZATION, 'minute', startOf('minute', NOW), rowsOf(tenants))
    const rows = await readAll(usage, { groupBy: ['tenant'] })
    expect(rows.map(({ tenantId }) => tenantId)).toEqual(tenants)
  })
})

const textOf = (row: Partial<UsageRow>, dimension: UsageDimension) => row[DIMENSION_FIELDS[dimension]] ?? null

/** By time, then by each dimension, null first. */
const sorted = <T extends { start: number } & Partial<UsageRow>>(rows: T[], groupBy: UsageDimension[]): T[] =>
  rows.sort((a, b) => {
    if (a.start !== b.start) return a.start - b.start
    const other = groupBy.find((dimension) => textOf(a, dimension) !== textOf(b, dimension))
    if (!other) return 0
    const [left, right] = [textOf(a, other), textOf(b, other)]
    return left === null || (right !== null && left < right) ? -1 : 1
  })
