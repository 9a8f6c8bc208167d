import { vi } from 'vitest'
import type { RateStore } from '../../lib/core/ports/access.ts'

/** Counts processes in memory. @param quota what the sweeper has stored */
export function countingRates(quota: RateStore['getQuota'] = async () => null) {
  const counters = new Map<string, number>()
  const countProcess = vi.fn<RateStore['countProcess']>(async ({ organizationId, name, window }) => {
    const key = `${organizationId} ${name} ${window}`
    counters.set(key, (counters.get(key) ?? 0) + 1)
    return counters.get(key) as number
  })
  const getQuota = vi.fn(quota)
  return { rates: { getQuota, countProcess } as unknown as RateStore, getQuota, countProcess }
}
