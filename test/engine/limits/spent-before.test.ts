import { describe, expect, it } from 'vitest'
import { toLimitsDetails } from '../../../lib/contract/records/limits.ts'
import type { Access } from '../../../lib/core/access.ts'
import type { SubjectKey } from '../../../lib/core/ports/usage.ts'
import { INTERVAL_MS, NANO_USD, type UsageRow } from '../../../lib/core/usage.ts'
import type { LimitSubject } from '../../../lib/core/usage-limits.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { readCost } from '../../../lib/engine/usage/read-totals.ts'
import { deleteLimits, type GivenLimits, getLimits, putLimits } from '../../../lib/limits/manage-limits.ts'
import { system } from '../../../lib/system.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'
import { aUsageRow } from '../../support/usage/memory-usage.ts'

/** In the afternoon of a day in the middle of a month. */
const NOW = Date.UTC(2026, 10, 18, 15, 30)
const DAY = INTERVAL_MS.day
const acme: LimitSubject = { kind: 'tenant', id: 'acme' }
const dollars = (costUsd: number, row: Partial<UsageRow> = {}) =>
  aUsageRow({ tenantId: 'acme', ...row, costNanoUsd: costUsd * NANO_USD })

async function setUp() {
  const { limits, usage } = openStores(memoryTable())
  const access = { organizationId: system.newId(), tenantId: null, agents: null } as unknown as Access
  const { organizationId } = access
  let now = NOW
  const clock = { now: () => now }
  const stores = {
    limits,
    system: clock,
    readCost: (key: SubjectKey) => readCost({ usage, system: clock }, key),
  }
  const count = (interval: 'day' | 'hour' | 'minute', start: number, rows: UsageRow[]) =>
    usage.put({ organizationId, interval, start, rows, readAt: NOW, isFinal: true })
  await usage.setPosition({
    position: { day: NOW - (NOW % DAY), hour: NOW - (NOW % INTERVAL_MS.hour), minute: NOW },
  })
  const other = [dollars(1_000, { tenantId: 'globex' }), dollars(1_000, { tenantId: null })]
  await count('day', Date.UTC(2026, 9, 31), [dollars(500)])
  await count('day', Date.UTC(2026, 10, 1), [dollars(5), ...other])
  await count('hour', Date.UTC(2026, 10, 18, 0), [dollars(2), ...other])
  await count('minute', Date.UTC(2026, 10, 18, 15, 29), [dollars(0.5), ...other])
  return {
    spend: (costUsd: number) => limits.addSpent({ organizationId, subject: acme, at: now, costUsd }),
    put: (given: GivenLimits) => putLimits(stores, { access, subject: acme, given }),
    remove: () => deleteLimits(stores, { access, subject: acme }),
    read: async () => toLimitsDetails(await getLimits(stores, { access, subject: acme })),
    goTo: (time: number) => {
      now = time
    },
  }
}

const LIMIT = { maxCostUsd: { month: 100 } }

describe('a cost limit that is set in the middle of a month', () => {
  it('counts what was spent since the beginning of the day and the month, and says so', async () => {
    const { put, spend, read, goTo } = await setUp()
    expect(await put({ maxOpenExecutions: 3 })).not.toHaveProperty('spentBefore')
    expect((await read()).costCountedFrom).toBeNull()
    await put(LIMIT)
    expect(await read()).toMatchObject({
      spentUsd: { day: 2.5, month: 7.5 },
      costCountedFrom: '2026-11-01T00:00:00.000Z',
    })
    expect(await read()).not.toHaveProperty('spentBefore')
    await spend(1)
    expect((await read()).spentUsd).toEqual({ day: 3.5, month: 8.5 })
    goTo(NOW + DAY)
    expect((await read()).spentUsd).toEqual({ day: 0, month: 8.5 })
    goTo(Date.UTC(2026, 11, 1))
    expect((await read()).spentUsd).toEqual({ day: 0, month: 0 })
  })

  it('counts nothing twice, however often it is set', async () => {
    const { put, remove, spend, read } = await setUp()
    // As after a limit that was deleted: these costs are part of the usage.
    await spend(2)
    await Promise.all([put(LIMIT), put(LIMIT)])
    expect((await read()).spentUsd).toEqual({ day: 2.5, month: 7.5 })
    await spend(1)
    await put({ maxCostUsd: { day: 50 } })
    expect((await read()).spentUsd).toEqual({ day: 3.5, month: 8.5 })
    await remove()
    await put(LIMIT)
    // What is spent now is not yet part of the usage.
    expect((await read()).spentUsd).toEqual({ day: 3, month: 7.5 })
  })
})
