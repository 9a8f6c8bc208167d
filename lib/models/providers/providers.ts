import { ANTHROPIC } from './anthropic.ts'
import { BEDROCK } from './bedrock.ts'
import { OPENAI } from './openai.ts'
import { OPENAI_COMPATIBLE } from './openai-compatible.ts'
import type { Provider, ProviderTraits } from './provider-traits.ts'

/** Declared there so that what needs only the names does not load the traits. */
export { PROVIDERS, type Provider } from './provider-traits.ts'

export const traitsOf = (provider: Provider): ProviderTraits => TRAITS[provider]

/**
 * Everything that the service knows about each provider. Literals only: esbuild then removes the traits from bundles
 * that use only the names.
 */
export const TRAITS = {
  bedrock: BEDROCK,
  anthropic: ANTHROPIC,
  openai: OPENAI,
  'openai-compatible': OPENAI_COMPATIBLE,
} satisfies Record<Provider, ProviderTraits>
