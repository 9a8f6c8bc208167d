import type { LimitsDetails, LimitsRecord, OwnLimits } from '../../lib/contract/records/limits.ts'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import { leftOf, type UsageLimits } from '../../lib/core/usage-limits.ts'
import { ApiError } from '../api/api-error.ts'
import { requestJson, requestPages } from '../api/request.ts'

/** `left`: what can still be used. Null: not limited. */
export type LimitsState = { limits: UsageLimits; left: OwnLimits['left'] }

export const limitsPath = (tenantId: string): string => `/v1/tenants/${encodeURIComponent(tenantId)}/limits`

/** Null if the tenant has none. @throws ApiError */
export async function findLimits(tenantId: string, signal: AbortSignal): Promise<LimitsState | null> {
  try {
    const limits = await requestJson<LimitsDetails>(limitsPath(tenantId), { signal })
    return { limits, left: leftOf(limits, limits) }
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

/** The limits of all tenants; null if the token may not see them. @throws ApiError */
export async function listLimits(signal?: AbortSignal): Promise<LimitsRecord[] | null> {
  try {
    const query = { kind: 'tenant', limit: 100 }
    return (await requestPages<LimitsRecord>('/v1/limits', { query, signal })).items
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
}
