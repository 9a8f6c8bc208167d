import type { LimitsDetails, LimitsRecord, OwnLimits } from '../../lib/contract/records/limits.ts'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { leftOf, type UsageLimits } from '../../lib/core/usage-limits.ts'
import { nullIf } from '../api/api-error.ts'
import { requestJson, requestPages } from '../api/request.ts'
import { loadUsage } from '../usage/use-usage.ts'

/** `left`: what can still be used. Null: not limited. */
export type LimitsState = {
  limits: UsageLimits & Partial<Pick<LimitsRecord, 'costCountedFrom'>>
  left: OwnLimits['left']
}

export const limitsPath = (tenantId: string): string => `/v1/tenants/${encodeURIComponent(tenantId)}/limits`

/** Null if the tenant has none. @throws ApiError */
async function findLimits(tenantId: string, signal: AbortSignal): Promise<LimitsState | null> {
  const path = limitsPath(tenantId)
  const limits = await requestJson<LimitsDetails>(path, { signal }).catch(nullIf('LimitsNotFound'))
  return limits && { limits, left: leftOf(limits, limits) }
}

/** Null if the tenant has none; `hidden` if the token may not read them: bound ones read them by `/v1/me`. */
export async function readLimits(
  tenantId: string,
  boundTenant: string | null,
  signal: AbortSignal,
): Promise<LimitsState | null | 'hidden'> {
  if (boundTenant !== null && boundTenant !== tenantId) return 'hidden'
  try {
    if (boundTenant === null) return await findLimits(tenantId, signal)
    const { limits } = await requestJson<MeRecord>('/v1/me', { signal })
    return limits && { limits, left: limits.left }
  } catch (error) {
    return nullIf(403)(error) ?? 'hidden'
  }
}

type Spent = { day: number; month: number }

/** What tenants have spent since the day and the month of UTC began. @param rows of this month, by day and tenant */
export function spentByTenant(rows: UsageRowRecord[], now: number): Map<string, Spent> {
  const today = new Date(now).toISOString().slice(0, 10)
  const spent = new Map<string, Spent>()
  for (const { tenantId, start, costUsd } of rows) {
    if (tenantId == null) continue
    const { day, month } = spent.get(tenantId) ?? { day: 0, month: 0 }
    spent.set(tenantId, { day: day + (start.startsWith(today) ? costUsd : 0), month: month + costUsd })
  }
  return spent
}

/** The rows for it; none if no tenant has a limit of costs. @throws ApiError */
export async function loadSpent(limits: LimitsRecord[], signal?: AbortSignal): Promise<UsageRowRecord[]> {
  if (!limits.some(({ maxCostUsd }) => maxCostUsd.day !== null || maxCostUsd.month !== null)) return []
  const from = new Date(Date.now()).toISOString().slice(0, 7)
  return (await loadUsage({ groupBy: 'tenant', interval: 'day', from: `${from}-01T00:00:00Z` }, signal)).items
}

/** The limits of all tenants; null if the token may not see them. @throws ApiError */
export async function listLimits(signal?: AbortSignal): Promise<LimitsRecord[] | null> {
  const query = { kind: 'tenant', limit: 100 }
  const list = await requestPages<LimitsRecord>('/v1/limits', { query, signal }).catch(nullIf(403))
  return list?.items ?? null
}
