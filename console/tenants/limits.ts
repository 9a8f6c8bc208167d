import type { LimitsDetails, LimitsRecord, OwnLimits } from '../../lib/api/schemas/limits-record.ts'
import type { MeRecord } from '../../lib/api/schemas/records.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import { ApiError } from '../api/api-error.ts'
import { type Page, requestJson, requestPage } from '../api/request.ts'
import type { Query } from '../state/location.ts'

/** `left`: what can still be used. Null: not limited. */
export type LimitsState = { limits: UsageLimits; left: OwnLimits['left'] }

export const limitsPath = (tenantId: string): string => `/v1/tenants/${encodeURIComponent(tenantId)}/limits`

/** Null if the tenant has none. @throws ApiError */
export async function findLimits(tenantId: string, signal: AbortSignal): Promise<LimitsState | null> {
  try {
    const limits = await requestJson<LimitsDetails>(limitsPath(tenantId), { signal })
    return { limits, left: leftOf(limits) }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'LimitsNotFound') return null
    throw error
  }
}

/**
 * Null if the tenant has none; `hidden` if the token may not read them. Tokens that are bound to a tenant read its
 * limits with their own identity. @throws ApiError
 */
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
    if (error instanceof ApiError && error.status === 403) return 'hidden'
    throw error
  }
}

export function leftOf({
  maxOpenExecutions,
  maxCostUsd,
  openExecutions,
  spentUsd,
}: LimitsDetails): OwnLimits['left'] {
  const left = (limit: number | null, used: number) => (limit === null ? null : Math.max(limit - used, 0))
  return {
    openExecutions: left(maxOpenExecutions, openExecutions),
    costUsd: { day: left(maxCostUsd.day, spentUsd.day), month: left(maxCostUsd.month, spentUsd.month) },
  }
}

const MAX_PAGES = 20

/** The limits of all tenants; null if the token may not see them. @throws ApiError */
export async function listLimits(signal?: AbortSignal): Promise<LimitsRecord[] | null> {
  const found: LimitsRecord[] = []
  let next: Query | URLSearchParams | null = { kind: 'tenant', limit: 100 }
  try {
    for (let page = 0; next && page < MAX_PAGES; page += 1) {
      const loaded: Page<LimitsRecord> = await requestPage<LimitsRecord>('/v1/limits', {
        query: next,
        signal,
      })
      found.push(...loaded.items)
      next = loaded.next
    }
    return found
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
}
