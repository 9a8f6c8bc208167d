import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../../core/model.ts'
import type { Journal } from '../checkpoints/journal.ts'
import type { LiveResponse } from '../checkpoints/live-response.ts'
import { type RetryWindow, retryInPlace } from '../retry-in-place.ts'
import type { RunBudget } from './run-budget.ts'
import type { RunLimits } from './run-limits.ts'

export type RetryLimits = RetryWindow & {
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

/**
 * One model response, with retries. Responses that arrived and cannot be used are counted.
 * @throws ModelError if it is permanent, persists, or asks for a longer wait
 * @throws BudgetExceeded, AttemptStopped `LeaseLost`
 */
export function respondWithRetry(
  model: Model,
  request: ModelRequest,
  { journal, budget, limits, live, number, ...window }: RetryLimits,
): Promise<ModelResponse> {
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
  return retryInPlace(respond, {
    ...window,
    signal: request.signal,
    transientOf: (error) => (error instanceof ModelError && error.isTransient ? error : null),
    onFailedAttempt: async (error) => {
      if (!(error instanceof ModelError) || !error.usage) return
      await limits?.add(error.usage)
      await journal.addLostResponse(error.usage)
    },
  })
}
