import { beforeAll, describe, expect, inject, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { DEPLOYMENT, INTERVAL_MS, startOf, type UsageInterval } from '../../../lib/core/usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { openDailyCost } from '../../../lib/engine/usage/daily-cost.ts'
import { readUsage } from '../../../lib/engine/usage/read-usage.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { aUsageRow } from '../../support/usage/memory-usage.ts'

const name = `usage-${system.newId()}`
const organizationId = system.newId()
const { hour: HOUR, day: DAY, minute: MINUTE } = INTERVAL_MS
/** In the middle of a day. */
const NOW = startOf('day', Date.now()) + 12 * HOUR + 30 * MINUTE
const today = startOf('day', NOW)
const position = { minute: NOW - 7 * MINUTE, hour: today + 12 * HOUR, day: today }

describe('in a table of its own', () => {
  const { usage, agents } = openStores(openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject('dynamodb') }))
  const put = (owner: string, interval: UsageInterval, start: number, usd: number) => {
    const slot = { organizationId: owner, interval, start, readAt: NOW, isFinal: false }
    return usage.put({ ...slot, rows: [aUsageRow({ costNanoUsd: usd * 1e9 })] })
  }
  beforeAll(async () => {
    await provisionTable(inject('dynamodb'), name)
    await usage.setPosition({ position })
    await put(organizationId, 'day', today - DAY, 1)
    await put(organizationId, 'hour', today, 2)
    await put(organizationId, 'hour', today + 11 * HOUR, 4)
    await put(organizationId, 'minute', today + 12 * HOUR, 8)
    await put(organizationId, 'minute', NOW - MINUTE, 16)
    // Parts of what is final already, which must not count again.
    await put(organizationId, 'hour', today - DAY, 1)
    await put(organizationId, 'minute', today + 11 * HOUR, 4)
    await put(DEPLOYMENT, 'hour', today + 11 * HOUR, 30)
    await put(DEPLOYMENT, 'hour', today - 13 * HOUR, 12)
    await put(DEPLOYMENT, 'hour', today - 8 * DAY, 1_000)
    await put(DEPLOYMENT, 'day', today - 9 * DAY, 1_000)
  })

  it('usage is the sum of days, hours and minutes', async () => {
    const access = { ...UNLIMITED, organizationId, tokenId: 'token' }
    const from = new Date(today - DAY).toISOString()
    const stores = { usage, agents, system: { now: () => NOW } }
    const { page } = await readUsage(stores, { access, query: { interval: 'day', from } })
    expect(page.items.map(({ start, runs, costNanoUsd }) => [start, runs, costNanoUsd / 1e9])).toEqual([
      [today - DAY, 1, 1],
      [today, 4, 30],
    ])
  })

  it('the cost of a day is that of all organizations', async () => {
    expect(await openDailyCost({ usage })()).toEqual({ lastDay: 30, usual: 12 / 7 })
  })
})
