import { setTimeout as sleep } from 'node:timers/promises'
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../../core/model.ts'

const MAX_TRIES = 4

/** A worker waits no longer than this for a run that can come back by message: waiting there costs nothing. */
const MAX_WAIT_MS = { comesBack: 5_000, stays: 60_000 }

/**
 * One response, however often it takes to get it: a passing fault is waited out, as long as the provider says or twice
 * as long each time.
 * @throws ModelError when it does not pass, or asks for more patience than a run has
 */
export async function respondWithRetry(
  model: Model,
  request: ModelRequest,
  { comesBack, firstWaitMs }: { comesBack: boolean; firstWaitMs: number },
): Promise<ModelResponse> {
  const longest = comesBack ? MAX_WAIT_MS.comesBack : MAX_WAIT_MS.stays
  for (let tries = 1; ; tries++) {
    try {
      return await model.respond(request)
    } catch (error) {
      if (!(error instanceof ModelError) || !error.isTransient || tries === MAX_TRIES) throw error
      const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** (tries - 1) * (0.5 + Math.random())
      if (waitMs > longest) throw error
      await sleep(waitMs, undefined, { signal: request.signal })
    }
  }
}
