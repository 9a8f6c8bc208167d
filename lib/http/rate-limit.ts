import type { MiddlewareObj } from '@middy/core'
import { RateLimitExceeded } from '../core/errors.ts'
import type { RateStore } from '../core/ports.ts'
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
