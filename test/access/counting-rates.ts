import { vi } from 'vitest'
import type { RateStore } from '../../lib/core/ports/access.ts'

/** Counts the processes of one organization in memory. @param getQuota what the sweeper has stored */
export function countingRates(getQuota: RateStore['getQuota']) {
  const counters = new Map<string, number>()
  const countProcess = vi.fn<RateStore['countProcess']>(async ({ name, window }) => {
    const key = `${name} ${window}`
    counters.set(key, (counters.get(key) ?? 0) + 1)
    return counters.get(key) as number
  })
  return { countProcess, getQuota: vi.fn(getQuota) }
}
