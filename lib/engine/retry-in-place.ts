import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import type { LeaseTimes } from '../core/lease-times.ts'
import type { System } from '../core/ports/system.ts'

export type RetryWindow = {
  system: Pick<System, 'now'>
  times: LeaseTimes
  /** When the run or its worker has to stop, in milliseconds since the epoch. */
  endsAt: number
  /** Whether another model, or a later attempt from the queue, continues if the partner does not respond. */
  hasAlternative: boolean
}

/** `isUnreachable`: only a few retries. `retryAfterMs`: what the partner asks for. */
type Transient = { isUnreachable?: boolean; retryAfterMs: number | null }

type Options = RetryWindow & {
  signal: AbortSignal
  /** Null for an error that is permanent. */
  transientOf: (error: unknown) => Transient | null
  onFailedAttempt?: (error: unknown) => Promise<void>
}

/** With an alternative, or of a partner that cannot be reached. Otherwise, only the time is limited. */
const MAX_RETRIES = 3

/** Upper bound of the delay between two retries, as a share of the time for all of them. */
const MAX_DELAY_SHARE = 1 / 6

/**
 * Retries requests to a partner while a worker waits. Transient errors are retried with exponential backoff, or after
 * the partner's Retry-After, within 60 s and half of the time that is left. With an alternative, the partner is not
 * worth waiting for that long.
 * @throws the last error
 */
export function retryInPlace<T>(
  work: () => Promise<T>,
  { system, times, endsAt, hasAlternative, signal, transientOf, onFailedAttempt }: Options,
): Promise<T> {
  const { retryDelayMs, retryWindowMs, backoffMs } = times
  const maxWaitMs = hasAlternative ? backoffMs : retryWindowMs
  let giveUpAt: number | undefined
  return pRetry(work, {
    retries: hasAlternative ? MAX_RETRIES : Number.POSITIVE_INFINITY,
    minTimeout: retryDelayMs,
    maxTimeout: retryWindowMs * MAX_DELAY_SHARE,
    factor: 2,
    randomize: true,
    signal,
    onFailedAttempt: ({ error }) => onFailedAttempt?.(error),
    shouldRetry: async ({ error, attemptNumber, retryDelay }) => {
      const transient = transientOf(error)
      if (!transient || (transient.isUnreachable && attemptNumber > MAX_RETRIES)) return false
      const now = system.now()
      giveUpAt ??= now + Math.min(retryWindowMs, (endsAt - now) / 2)
      const retryAfterMs = transient.retryAfterMs ?? 0
      const waitMs = Math.max(retryAfterMs, retryDelay)
      if (waitMs > maxWaitMs || now + waitMs > giveUpAt) return false
      if (retryAfterMs > retryDelay) await sleep(retryAfterMs - retryDelay, undefined, { signal })
      return true
    },
  })
}
