import type { MiddlewareObj } from '@middy/core'
import { LRUCache } from 'lru-cache'
import { RateLimitExceeded } from '../core/errors.ts'
import type { RateStore } from '../core/ports.ts'
import type { ServiceEvent } from './event.ts'

const MAX_TOKENS = 1_000

/** By token, the last second whose requests this process knows to be used up: a flood of requests writes little. */
const exhausted = new LRUCache<string, number>({ max: MAX_TOKENS })

/**
 * Counts the requests of tokens with a rate, also those that are rejected later. It is not the authorizer that counts:
 * API Gateway caches its results.
 */
export function rateLimit(rates: RateStore, now = Date.now): MiddlewareObj<ServiceEvent> {
  return {
    before: async ({ event }) => {
      const { tokenId = '', rate = null } = event.access ?? {}
      if (rate === null) return
      const second = Math.floor(now() / 1000)
      const isExhausted = exhausted.get(tokenId) === second
      const requests = isExhausted ? Number.POSITIVE_INFINITY : await rates.count({ tokenId, second })
      if (requests >= rate) exhausted.set(tokenId, second)
      if (requests > rate) throw new RateLimitExceeded(rate)
    },
  }
}
