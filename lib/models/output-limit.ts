import type { ModelRequest } from '../core/model.ts'
import { type Environment, readInteger } from '../environment.ts'
import type { Provider } from './model-name.ts'
import { OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS } from './providers/provider-settings.ts'

/** Small models, in particular, may never stop: without a limit 4 of 16 runs with SmolLM2-135M did not. */
const DEFAULT_TOKENS = 2_000

/** The output limit of models whose document and reasoning level set none; undefined: that of the provider. */
export function defaultOutputLimit(provider: Provider, environment: Environment): number | undefined {
  if (provider !== 'openai-compatible') return undefined
  return readInteger(OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS, DEFAULT_TOKENS, environment)
}

/** Twice the limit after a truncated response. A limit of the provider is known only from the tokens of this response. */
export function outputLimitOf(
  { truncatedAfter }: Pick<ModelRequest, 'truncatedAfter'>,
  limit: number | undefined,
): number | undefined {
  return truncatedAfter === undefined ? limit : 2 * (limit ?? truncatedAfter) || undefined
}
