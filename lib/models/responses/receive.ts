import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { CollectedResponse } from './collect-stream.ts'
import { NoStreamError } from './streaming-fetch.ts'

type Params = {
  model: LanguageModelV4
  /** Opens the same model with another `fetch`. */
  open: (fetch: typeof globalThis.fetch) => Promise<LanguageModelV4>
  collect: (stream: ReadableStream<LanguageModelV4StreamPart>) => Promise<CollectedResponse>
}

/**
 * Requests a stream and collects it. A server that ignores this and returns the whole response has it read by the
 * provider's package, too.
 */
export async function receive(
  options: LanguageModelV4CallOptions,
  { model, open, collect }: Params,
): Promise<CollectedResponse> {
  try {
    return await collect((await model.doStream(options)).stream)
  } catch (error) {
    if (!(error instanceof NoStreamError)) throw error
    try {
      const whole = await open(async () => error.toResponse())
      return { ...(await whole.doGenerate(options)), refusal: '' }
    } catch {
      throw error
    }
  }
}
