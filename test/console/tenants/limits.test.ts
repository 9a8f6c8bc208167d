import { describe, expect, it } from 'vitest'
import { toLimits } from '../../../console/tenants/limits-form.ts'
import { searchTenants, toTenantRows } from '../../../console/tenants/tenant-rows.ts'
import { leftOf } from '../../../lib/core/usage-limits.ts'
import { aLimitsRecord, aUsageRow } from '../../browser/stub/usage.ts'

describe('leftOf', () => {
  it('is never negative: requests that were in flight may have exceeded a limit', () => {
    const limits = aLimitsRecord('acme', { maxOpenExecutions: 10, maxCostUsd: { day: 5, month: null } })
    expect(leftOf(limits, { openExecutions: 4, spentUsd: { day: 5.2, month: 90 } })).toEqual({
      openExecutions: 6,
      costUsd: { day: 0, month: null },
    })
  })
})

describe('toLimits', () => {
  const formOf = (values: Record<string, string>) => ({ get: (name: string) => values[name] ?? null })

  it('sets no limit for an empty field', () => {
    expect(toLimits(formOf({ day: ' ', openRuns: '' }))).toEqual({
      ...{ maxOpenExecutions: null, maxRunsPerMinute: null, maxCostUsd: { day: null, month: null } },
      ...{ warnAt: null, queueWhenFull: false },
    })
  })

  it('takes a percentage as a share', () => {
    const entered = {
      day: '2.5',
      month: '0',
      warnAt: '80',
      openRuns: '3',
      runsPerMinute: '60',
      queueWhenFull: 'on',
    }
    expect(toLimits(formOf(entered))).toEqual({
      ...{ maxOpenExecutions: 3, maxRunsPerMinute: 60, maxCostUsd: { day: 2.5, month: 0 } },
      ...{ warnAt: 0.8, queueWhenFull: true },
    })
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
