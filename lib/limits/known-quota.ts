import type { RateStore } from '../core/ports/access.ts'
import { describeCause, logger } from '../logger.ts'

/** How long a process may not know of another quota. */
const QUOTA_TTL_MS = 5 * 60_000

/**
 * The quota of the account that the sweeper has stored, read at most once in five minutes; null while it is unknown. If
 * it cannot be read, and while it is, what is known of it stays.
 */
export function readKnownQuota(rates: Pick<RateStore, 'getQuota'>, clock: () => number = Date.now) {
  let quota: number | null = null
  let readAt = Number.NEGATIVE_INFINITY
  return async (): Promise<number | null> => {
    const now = clock()
    if (now - readAt < QUOTA_TTL_MS) return quota
    readAt = now
    try {
      quota = await rates.getQuota({ now })
    } catch (error) {
      logger.warn('quota of the account not read', { cause: describeCause(error) })
    }
    return quota
  }
}
