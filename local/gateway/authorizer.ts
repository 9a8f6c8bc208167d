import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { LRUCache } from 'lru-cache'
import { describeMistake } from '../../lib/access/tokens.ts'
import { Unauthorized, Unavailable } from '../../lib/core/errors.ts'

export type Authorizer = (event: APIGatewayTokenAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>

/** What a function receives in `requestContext.authorizer`. */
export type AuthorizerContext = Record<string, unknown>

/**
 * Calls the authorizer as API Gateway calls a TOKEN authorizer. A missing header and the error "Unauthorized" are 401.
 * @param route method and path
 * @throws Unauthorized, Unavailable
 */
export async function authorize(
  authorizer: Authorizer,
  header: string | undefined,
  route: string,
): Promise<AuthorizerContext> {
  if (!header) throw new Unauthorized({ hasToken: false, mistake: describeMistake(header) })
  const hasToken = /^bearer +\S/i.test(header)
  const methodArn = `arn:aws:execute-api:local:000000000000:local/local/${route}`
  const result = await authorizer({ type: 'TOKEN', methodArn, authorizationToken: header }).catch(
    (error: Error) => {
      throw error.message === 'Unauthorized'
        ? new Unauthorized({ hasToken, mistake: describeMistake(header) })
        : new Unavailable(error)
    },
  )
  const isAllowed = result.policyDocument.Statement.every((statement) => statement.Effect === 'Allow')
  if (!isAllowed) throw new Unauthorized()
  return { principalId: result.principalId, ...result.context }
}

/**
 * API Gateway caches an authorizer's policy for a minute. A quarter of a second lets a revoked token stop working at
 * once for the person who revokes it, and still saves most of the reads for a busy client.
 */
const TTL_MS = 250
const MAX_TOKENS = 1_000

/**
 * Caches the policies of an authorizer by token. Concurrent requests with one token call it once. Errors are not
 * cached.
 */
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
