import type { Authorizer } from './authorize.ts'

/**
 * How long an authorizer's answer is good for. API Gateway keeps it for a minute; here a revoked token stops working
 * before anybody has typed the next command, and a busy client's token is still read four times a second, not for every request.
 */
const KEPT_MS = 250
const MAX_KEPT = 1_000

type Kept = { answer: ReturnType<Authorizer>; until: number }

/** Asks an authorizer once for all requests of a token within a quarter of a second. What it refuses it is asked again. */
export function cacheAuthorizer(
  authorizer: Authorizer,
  now: () => number = () => performance.now(),
): Authorizer {
  const kept = new Map<string, Kept>()
  return (event) => {
    const { authorizationToken: token } = event
    const found = kept.get(token)
    if (found && found.until > now()) return found.answer
    if (kept.size >= MAX_KEPT) kept.clear()
    const answer = authorizer(event)
    kept.set(token, { answer, until: now() + KEPT_MS })
    answer.catch(() => kept.delete(token))
    return answer
  }
}
