import type { LimitsRecord } from '../../lib/contract/records/limits-record.ts'
import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage-record.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { addUp, addUpBy, type Group } from '../usage/totals.ts'

/** `key`: the tenant's ID; null for runs without a tenant. */
export type TenantRow = Group<string | null> & { limits: UsageLimits | null }

/** Every tenant that has usage or limits: the highest cost first. */
export function toTenantRows(usage: UsageRow[], limits: LimitsRecord[]): TenantRow[] {
  const limitsOf = new Map(limits.map((each) => [each.tenantId ?? '', each]))
  const used = addUpBy(usage, ({ tenantId }) => tenantId ?? null)
  const known = new Set(used.map(({ key }) => key))
  const unused = [...limitsOf.keys()].filter((key) => !known.has(key)).map((key) => ({ key, ...addUp([]) }))
  return [...used, ...unused].map((group) => ({ ...group, limits: limitsOf.get(group.key ?? '') ?? null }))
}

/** Those whose ID contains a text, in any case. Runs without a tenant have none. */
export function searchTenants<Row extends Pick<TenantRow, 'key'>>(rows: Row[], search: string): Row[] {
  const text = search.trim().toLowerCase()
  return text === '' ? rows : rows.filter(({ key }) => key?.toLowerCase().includes(text))
}
