import type { MiddlewareObj } from '@middy/core'
import { LargeBodyLimitExceeded, RateLimitExceeded } from '../core/errors.ts'
import {
  LARGE_BODY_MB_PER_MINUTE as DEFAULT_MB_PER_MINUTE,
  LARGE_BODY_BYTES,
  MAX_PAYLOAD_BYTES,
} from '../core/limits.ts'
import type { RateStore } from '../core/ports.ts'
import { LARGE_BODY_MB_PER_MINUTE, readInteger } from '../environment.ts'
import type { ServiceEvent } from './event.ts'

/** The tokens that have used up their requests of a second, as far as this process knows: a flood of requests writes little. */
let exhausted = { second: 0, tokens: new Set<string>() }

/**
 * Counts the requests of tokens with a rate, also those that are rejected later. It is not the authorizer that counts:
 * API Gateway caches its results.
 */
export function rateLimit(rates: RateStore): MiddlewareObj<ServiceEvent> {
  return {
    before: async ({ event }) => {
      const { tokenId = '', rate = null } = event.access ?? {}
      if (rate === null) return
      const second = Math.floor(Date.now() / 1000)
      if (exhausted.second !== second) exhausted = { second, tokens: new Set() }
      const { tokens } = exhausted
      if (tokens.has(tokenId)) throw new RateLimitExceeded(rate)
      const requests = await rates.count({ tokenId, second })
      if (requests >= rate) tokens.add(tokenId)
      if (requests > rate) throw new RateLimitExceeded(rate)
    },
  }
}

/** The organizations that have used up their bytes of a minute, as far as this process knows. */
let full = { minute: 0, organizations: new Set<string>() }

/**
 * Limits what an organization sends in large bodies: each is stored, and one of 6 MB costs 6,000 write units. Smaller bodies cost
 * no request. To be used after the checks of the token.
 */
export function largeBodyLimit(rates: RateStore): MiddlewareObj<ServiceEvent> {
  const maxMegabytes = readInteger(LARGE_BODY_MB_PER_MINUTE, DEFAULT_MB_PER_MINUTE)
  return {
    before: async ({ event }) => {
      const bytes = countBytes(event)
      // A body that is too large is not stored.
      if (bytes <= LARGE_BODY_BYTES || bytes > MAX_PAYLOAD_BYTES) return
      const { organizationId = '' } = event.access ?? {}
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
    },
  }
}

function countBytes({ body, isBase64Encoded }: ServiceEvent): number {
  if (!body) return 0
  return Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8')
}
