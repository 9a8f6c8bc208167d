import type { Access } from '../core/access.ts'
import { LargeBodyLimitExceeded, RateLimitExceeded } from '../core/limit-errors.ts'
import { LARGE_BODY_BYTES, MAX_PAYLOAD_BYTES } from '../core/limits.ts'
import type { RateStore } from '../core/ports/access.ts'
import { readSetting } from '../environment.ts'

/** Tokens known to have used up their requests of a second: a flood of requests writes little. */
let exhausted = { second: 0, tokens: new Set<string>() }

/** Counts a request of a token with a rate. @throws RateLimitExceeded */
export async function countRequest(rates: RateStore, { tokenId, rate }: Access): Promise<void> {
  if (rate === null) return
  const second = Math.floor(Date.now() / 1000)
  if (exhausted.second !== second) exhausted = { second, tokens: new Set() }
  const { tokens } = exhausted
  if (tokens.has(tokenId)) throw new RateLimitExceeded(rate)
  const requests = await rates.count({ tokenId, second })
  if (requests >= rate) tokens.add(tokenId)
  if (requests > rate) throw new RateLimitExceeded(rate)
}

/** Organizations known to have used up their bytes of a minute. */
let full = { minute: 0, organizations: new Set<string>() }

/** Counts the bytes of a body for its organization. @throws LargeBodyLimitExceeded */
export type CountBody = (access: Access, bytes: number) => Promise<void>

/**
 * Limits what an organization sends in large bodies: each is stored, and one of 6 MB costs 6,000 write units. Smaller
 * bodies cost no request.
 */
export function largeBodyCounter(rates: RateStore): CountBody {
  const maxMegabytes = readSetting('largeBodyMbPerMinute')
  return async ({ organizationId }, bytes) => {
    // A body that is too large is not stored.
    if (bytes <= LARGE_BODY_BYTES || bytes > MAX_PAYLOAD_BYTES) return
    const now = Date.now()
    const minute = Math.floor(now / 60_000)
    if (full.minute !== minute) full = { minute, organizations: new Set() }
    const { organizations } = full
    if (!organizations.has(organizationId)) {
      const sum = await rates.addBytes({ organizationId, minute, bytes })
      if (sum <= maxMegabytes * 1_000_000) return
      organizations.add(organizationId)
    }
    const retryAfterSeconds = Math.ceil(((minute + 1) * 60_000 - now) / 1000)
    throw new LargeBodyLimitExceeded({ maxMegabytes, retryAfterSeconds })
  }
}
