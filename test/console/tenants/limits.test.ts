import { describe, expect, it } from 'vitest'
import { spentByTenant } from '../../../console/tenants/limits.ts'
import { toLimits } from '../../../console/tenants/limits-dialog.tsx'
import { searchTenants, toTenantRows } from '../../../console/tenants/tenants-page.tsx'
import { leftOf } from '../../../lib/core/usage-limits.ts'
import { aLimitsRecord, aUsageRow } from '../../browser/stub/records.ts'

it('what is left of a limit is never negative: requests that were in flight may have exceeded it', () => {
  const limits = aLimitsRecord('acme', { maxOpenExecutions: 10, maxCostUsd: { day: 5, month: null } })
  expect(leftOf(limits, { openExecutions: 4, spentUsd: { day: 5.2, month: 90 } })).toEqual({
    openExecutions: 6,
    costUsd: { day: 0, month: null },
  })
})

it('toLimits takes 0 as a limit, and an empty field as none', () => {
  const form = { day: ' ', month: '0', warnAt: '', openRuns: '', runsPerMinute: '60', queueWhenFull: false }
  expect(toLimits(form)).toEqual({
    ...{ maxOpenExecutions: null, maxRunsPerMinute: 60, maxCostUsd: { day: null, month: 0 } },
    ...{ warnAt: null, queueWhenFull: false },
  })
})

it('spentByTenant adds up the day and the month of UTC', () => {
  const rows = [
    aUsageRow({ tenantId: 'acme', costUsd: 1, start: '2026-11-01T00:00:00Z' }),
    aUsageRow({ tenantId: 'acme', costUsd: 2, start: '2026-11-20T00:00:00Z' }),
    aUsageRow({ tenantId: null, costUsd: 4, start: '2026-11-20T00:00:00Z' }),
  ]
  const spent = spentByTenant(rows, Date.parse('2026-11-20T12:00:00Z'))
  expect([...spent]).toEqual([['acme', { day: 2, month: 3 }]])
})

describe('toTenantRows', () => {
  const usage = [
    aUsageRow({ tenantId: 'acme', costUsd: 1 }),
    aUsageRow({ tenantId: null, costUsd: 3 }),
    aUsageRow({ tenantId: 'acme', costUsd: 1 }),
  ]
  const rows = toTenantRows(usage, [aLimitsRecord('idle'), aLimitsRecord('acme')])

  it('lists tenants with usage, then those that only have limits', () => {
    const shown = rows.map(({ key, costUsd, limits, rows }) => [key, costUsd, limits !== null, rows.length])
    expect(shown).toEqual([
      [null, 3, false, 1],
      ['acme', 2, true, 2],
      ['idle', 0, true, 0],
    ])
  })

  it('is searched by a part of the ID', () => {
    expect(searchTenants(rows, ' AC').map(({ key }) => key)).toEqual(['acme'])
    expect(searchTenants(rows, '').length).toBe(3)
    expect(searchTenants(rows, 'null')).toEqual([])
  })
})
