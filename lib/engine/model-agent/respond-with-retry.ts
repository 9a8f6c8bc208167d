import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../../core/model.ts'
import type { System } from '../../core/ports/system.ts'
import type { Journal } from '../checkpoints/journal.ts'
import type { LiveResponse } from '../checkpoints/live-response.ts'
import type { RunBudget } from './run-budget.ts'
import type { RunLimits } from './run-limits.ts'

export type RetryLimits = {
  system: System
  times: LeaseTimes
  /** When the run or its worker has to stop, in milliseconds since the epoch. */
  endsAt: number
  /** Whether another model, or a later attempt from the queue, continues if this model does not respond. */
  hasAlternative: boolean
  journal: Pick<Journal, 'addLostResponse'>
  /** Null for a run without a limit. */
  budget: Pick<RunBudget, 'limit'> | null
  /** Those of its tenant and its agent; null without any. */
  limits: RunLimits | null
  /** Shows the responses while they arrive. */
  live: Pick<LiveResponse, 'begin' | 'add' | 'fail'>
  /** The number of the step. */
  number: number
}

/** With an alternative, or of a model that cannot be reached. Otherwise, only the time is limited. */
const MAX_RETRIES = 3

/** Upper bound of the delay between two retries, as a share of the time for all of them. */
const MAX_DELAY_SHARE = 1 / 6

/**
 * One model response. Transient errors are retried with exponential backoff, or after the provider's Retry-After,
 * within 60 s and half of the time that is left. With an alternative, the model is not worth waiting for that long.
 * Responses that arrived and cannot be used are counted.
 * @throws ModelError if it is permanent, persists, or asks for a longer wait
 * @throws BudgetExceeded, AttemptStopped `LeaseLost`
 */
export function respondWithRetry(
  model: Model,
  request: ModelRequest,
  { system, times, endsAt, hasAlternative, journal, budget, limits, live, number }: RetryLimits,
): Promise<ModelResponse> {
  const { signal } = request
  const { retryDelayMs, retryWindowMs, backoffMs } = times
  const maxWaitMs = hasAlternative ? backoffMs : retryWindowMs
  let giveUpAt: number | undefined
  const respond = async () => {
    await limits?.check(model)
    const limited = budget ? budget.limit(request, model) : request
    live.begin(number)
    try {
      const response = await model.respond({ ...limited, onPart: (part) => live.add(part) })
      await limits?.add(response.usage)
      return response
    } catch (error) {
      live.fail()
      throw error
    }
  }
  return pRetry(respond, {
    retries: hasAlternative ? MAX_RETRIES : Number.POSITIVE_INFINITY,
    minTimeout: retryDelayMs,
    maxTimeout: retryWindowMs * MAX_DELAY_SHARE,
    factor: 2,
    randomize: true,
    signal,
    onFailedAttempt: async ({ error }) => {
      if (!(error instanceof ModelError) || !error.usage) return
      await limits?.add(error.usage)
      await journal.addLostResponse(error.usage)
    },
    shouldRetry: async ({ error, attemptNumber, retryDelay }) => {
      if (!(error instanceof ModelError) || !error.isTransient) return false
      if (error.isUnreachable && attemptNumber > MAX_RETRIES) return false
      const now = system.now()
      giveUpAt ??= now + Math.min(retryWindowMs, (endsAt - now) / 2)
      const retryAfterMs = error.retryAfterMs ?? 0
      const waitMs = Math.max(retryAfterMs, retryDelay)
      if (waitMs > maxWaitMs || now + waitMs > giveUpAt) return false
      if (retryAfterMs > retryDelay) await sleep(retryAfterMs - retryDelay, undefined, { signal })
      return true
    },
  })
}
