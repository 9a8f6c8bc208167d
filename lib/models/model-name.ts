import { ModelConfigurationError } from '../core/model.ts'
import { REASONING_LEVELS, type Reasoning } from './providers/provider-traits.ts'
import { PROVIDERS, type Provider } from './providers/providers.ts'

export type ModelName = { provider: Provider; model: string; reasoning: Reasoning }

const MAX_CHARACTERS = 200
const FORMAT = '"{provider}/{model}" or "{provider}/{model}:{reasoning}"'

/**
 * Parses `{provider}/{model}[:{reasoning}]`. The part after the last colon is a reasoning level only if it is a known
 * one, because Bedrock model ids and Ollama tags contain colons.
 * @throws ModelConfigurationError
 */
export function parseModelName(text: string): ModelName {
  if (text.length > MAX_CHARACTERS) fail(`A model name must have at most ${MAX_CHARACTERS} characters.`)
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) fail('A model name must not contain control characters.')
  const name = JSON.stringify(text)
  const slash = text.indexOf('/')
  const provider = PROVIDERS.find((known) => known === text.slice(0, Math.max(slash, 0)))
  if (!provider) {
    fail(`The model name ${name} has no known provider. Use ${FORMAT} with one of ${PROVIDERS.join(', ')}.`)
  }
  const rest = text.slice(slash + 1)
  const colon = rest.lastIndexOf(':')
  const reasoning = REASONING_LEVELS.find((level) => colon >= 0 && level === rest.slice(colon + 1))
  const model = reasoning ? rest.slice(0, colon) : rest
  if (model.trim() === '') fail(`The model name ${name} has no model after the provider. Use ${FORMAT}.`)
  if (model.endsWith(':')) {
    const levels = REASONING_LEVELS.join(', ')
    fail(`The model name ${name} has no reasoning level after the colon. Use one of ${levels}.`)
  }
  return { provider, model, reasoning: reasoning ?? 'default' }
}

const BEDROCK_ARN = /^arn:[\w-]+:bedrock:[\w-]*:\d*:(inference-profile|foundation-model)\//

/** The id of a model, without the rest of its ARN at Bedrock. The id of an application's own profile names no model. */
export const toModelId = (model: string): string => model.replace(BEDROCK_ARN, '')

/** The name in execution records. Omits the level `default`. */
export function formatModelName({ provider, model, reasoning }: ModelName): string {
  return reasoning === 'default' ? `${provider}/${model}` : `${provider}/${model}:${reasoning}`
}

function fail(message: string): never {
  throw new ModelConfigurationError(message)
}
