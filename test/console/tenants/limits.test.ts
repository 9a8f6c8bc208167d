import { describe, expect, it } from 'vitest'
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

describe('toTenantRows', () => {
  const usage = [
    aUsageRow({ tenantId: 'acme', costUsd: 1 }),
    aUsageRow({ tenantId: null, costUsd: 3 }),
    aUsageRow({ tenantId: 'acme', costUsd: 1 }),
  ]
  const rows = toTenantRows(usage, [aLimitsRecord('idle'), aLimitsRecord('acme')])

  it('lists tenants with usage, then those that only have limits', () => {
    expect(rows.map(({ key, costUsd, limits }) => [key, costUsd, limits !== null])).toEqual([
      [null, 3, false],
      ['acme', 2, true],
      ['idle', 0, true],
    ])
  })

  it('is searched by a part of the ID', () => {
    expect(searchTenants(rows, ' AC').map(({ key }) => key)).toEqual(['acme'])
    expect(searchTenants(rows, '').length).toBe(3)
    expect(searchTenants(rows, 'null')).toEqual([])
  })
})
