import type { JsonObject } from '../../core/json/json.ts'
import type { Embedding } from '../../core/learning.ts'
import { embeddingTextOf } from '../../core/search-text.ts'
import { type Environment, readSetting } from '../../environment.ts'
import { logger } from '../../logger.ts'
import { quantize } from './embedding.ts'

/** A request takes a tenth of a second. Without its response, inputs are compared by their words. */
const MAX_WAIT_MS = 2_000

/**
 * The embedding of an input by the model `EMBEDDING_MODEL`; null without one, or if it does not respond in time with a
 * vector.
 */
export async function embedInput(
  input: JsonObject,
  environment: Environment,
  signal?: AbortSignal,
): Promise<Embedding | null> {
  const model = readSetting('embeddingModel', environment)
  const text = embeddingTextOf(input)
  if (!model || text.trim() === '') return null
  const timeout = AbortSignal.timeout(MAX_WAIT_MS)
  try {
    const { embedText } = await import('../../models/embed-text.ts')
    const vector = quantize(
      await embedText({
        model,
        text,
        environment,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      }),
    )
    if (!vector) throw new Error('The embedding model did not return a vector.')
    return { model, vector }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    // The message of a provider can contain the text.
    const { name, statusCode } = error as { name?: string; statusCode?: number }
    logger.warn('The embedding model failed.', { model, error: name, statusCode })
    return null
  }
}
