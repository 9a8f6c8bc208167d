import { randomBytes } from 'node:crypto'
import pLimit from 'p-limit'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import {
  MAX_FIRINGS,
  MAX_SCHEDULE_INPUT_BYTES,
  MAX_SCHEDULES,
  type Schedule,
} from '../../lib/core/schedule.ts'
import { scheduleStore } from '../../lib/dynamodb/schedule-store.ts'
import { system } from '../../lib/system.ts'
import { aSchedule } from '../support/schedules/a-schedule.ts'
import { EMULATORS, RACERS, race, readPages, tableOn } from '../support/tables/emulators.ts'

describe.each(EMULATORS)('scheduleStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = scheduleStore(table)

  async function create(schedule = aSchedule()): Promise<Schedule> {
    const stored = await store.put({ schedule, replaces: null })
    if (typeof stored === 'string') throw new Error(stored)
    return stored
  }

  it('returns what was stored, with all digits of its input, and null for another organization', async () => {
    const schedule = await create(
      aSchedule({
        name: 'Nightly.report_1',
        input: parseJson('{"id":12345678901234567890,"text":"Müller\\n"}') as JsonObject,
        options: { useCache: false, model: undefined },
        tenantId: 'acme',
        tokenId: system.newId(),
        firings: [
          { scheduledFor: '2026-11-24T12:00:00.000Z', status: 'FAILED', executionId: null, code: 'X' },
        ],
      }),
    )
    expect(await store.get(schedule)).toEqual(schedule)
    expect(await store.get({ ...schedule, organizationId: system.newId() })).toBeNull()
    expect(await store.get({ ...schedule, name: 'Nightly' })).toBeNull()
  })

  it('lets one of many write the next revision, and one create it', async () => {
    const schedule = aSchedule()
    const created = await race((n) =>
      store.put({ schedule: { ...schedule, cron: `${n} * * * *` }, replaces: null }),
    )
    const [first, ...others] = created.filter((each) => typeof each !== 'string')
    expect([others.length, await store.get(schedule)]).toEqual([0, first])
    const replaces = first as Schedule
    const changed = await race((n) =>
      store.put({ schedule: { ...schedule, cron: `* ${n} * * *` }, replaces }),
    )
    expect(changed.filter((each) => each !== 'changed')).toEqual([await store.get(schedule)])
  })

  it('does not write a revision of a schedule that was deleted, or deleted and created again', async () => {
    const first = await create()
    expect(await store.delete({ ...first, organizationId: system.newId() })).toBe(false)
    expect([await store.delete(first), await store.delete(first)]).toEqual([true, false])
    expect(await store.put({ schedule: first, replaces: first })).toBe('changed')
    const second = await create(first)
    expect(await store.put({ schedule: { ...first, enabled: false }, replaces: first })).toBe('changed')
    expect(await store.get(first)).toEqual(second)
  })

  it('stores the largest input with the most firings that can be', async () => {
    const firing = {
      scheduledFor: '2026-11-24T12:00:00.000Z',
      status: 'STARTED' as const,
      executionId: system.newId(),
      code: null,
    }
    const input = {
      text: randomBytes(MAX_SCHEDULE_INPUT_BYTES)
        .toString('base64')
        .slice(0, MAX_SCHEDULE_INPUT_BYTES - 11),
    }
    const schedule = await create(aSchedule({ input, firings: Array(MAX_FIRINGS).fill(firing) }))
    expect(await store.get(schedule)).toEqual(schedule)
  })

  it('holds the limit of an agent when many are created at the same time, and uses all of it', async () => {
    const { organizationId, agentId } = aSchedule()
    const put = (name: string) =>
      store.put({ schedule: aSchedule({ organizationId, agentId, name }), replaces: null })
    const names = Array.from({ length: MAX_SCHEDULES + 20 }, (_, n) => `s${n}`)
    const limit = pLimit(RACERS)
    const results = await Promise.all(names.map((name) => limit(() => put(name))))
    expect(results.filter((each) => each === 'full')).toHaveLength(20)
    const { items } = await readPages((page) => store.list({ organizationId, agentId, ...page }), 7)
    expect(items.map(({ name }) => name)).toEqual(
      results.flatMap((each) => (typeof each === 'string' ? [] : [each.name])).sort(),
    )
    await store.delete(items[0] as Schedule)
    expect([typeof (await put('new')), await put('newer')]).toEqual(['object', 'full'])
    expect(await put('new')).toBe('changed')
  })

  it('ends a page of large inputs early', async () => {
    const { organizationId, agentId } = aSchedule()
    const input = { text: 'x'.repeat(MAX_SCHEDULE_INPUT_BYTES - 11) }
    for (let n = 10; n < 35; n++) await create(aSchedule({ organizationId, agentId, name: `s${n}`, input }))
    const { items, pages } = await readPages((page) => store.list({ organizationId, agentId, ...page }), 50)
    expect([items.length, pages]).toEqual([25, 2])
  })
})
