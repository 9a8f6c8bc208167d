import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { LRUCache } from 'lru-cache'
import type { Authorizer } from './authorize.ts'

/**
 * API Gateway caches an authorizer's policy for a minute. A quarter of a second lets a revoked token stop working at once
 * for the person who revokes it, and still saves most of the reads for a busy client.
 */
const TTL_MS = 250
const MAX_TOKENS = 1_000

/** Caches the policies of an authorizer by token. Concurrent requests with one token call it once. Errors are not cached. */
export function cacheAuthorizer(authorizer: Authorizer, now = () => performance.now()): Authorizer {
  const cache = new LRUCache<string, APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent>({
    max: MAX_TOKENS,
    ttl: TTL_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: (_token, _stale, { context }) => authorizer(context),
  })
  return (event) => cache.forceFetch(event.authorizationToken, { context: event })
}
