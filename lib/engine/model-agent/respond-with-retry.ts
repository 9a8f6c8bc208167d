import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../../core/model.ts'
import type { RetryPolicy } from '../checkpoints/retry-policy.ts'

const MAX_RETRIES = 3

/** A worker waits this long at most for a retry. Waiting in the queue costs nothing, so a requeued run waits less here. */
const MAX_WAIT_MS = { requeue: 5_000, inline: 60_000 }

/**
 * One model response. Transient errors are retried with exponential backoff, or after the provider's Retry-After.
 * @throws ModelError if it is permanent, persists, or asks for a longer wait than the policy allows
 */
export function respondWithRetry(
  model: Model,
  request: ModelRequest,
  { mode, retryDelayMs }: { mode: RetryPolicy['mode']; retryDelayMs: number },
): Promise<ModelResponse> {
  const { signal } = request
  return pRetry(() => model.respond(request), {
    retries: MAX_RETRIES,
    minTimeout: retryDelayMs,
    factor: 2,
    randomize: true,
    signal,
    shouldRetry: async ({ error, retryDelay }) => {
      if (!(error instanceof ModelError) || !error.isTransient) return false
      const retryAfterMs = error.retryAfterMs ?? 0
      if (Math.max(retryAfterMs, retryDelay) > MAX_WAIT_MS[mode]) return false
      if (retryAfterMs > retryDelay) await sleep(retryAfterMs - retryDelay, undefined, { signal })
      return true
    },
  })
}
