import { ModelConfigurationError } from '../core/model.ts'

export const PROVIDERS = ['bedrock', 'anthropic', 'openai', 'openai-compatible'] as const
export type Provider = (typeof PROVIDERS)[number]

/** `default` sends nothing: the provider decides. */
export const REASONING_LEVELS = ['none', 'default', 'minimal', 'low', 'medium', 'high'] as const
export type Reasoning = (typeof REASONING_LEVELS)[number]

export type ModelName = { provider: Provider; model: string; reasoning: Reasoning }

const MAX_CHARACTERS = 200
const FORM = '"{provider}/{model}" or "{provider}/{model}:{reasoning}"'

/**
 * Reads `{provider}/{model}[:{reasoning}]`. What follows the last colon is the reasoning only if it is a known level:
 * ids of Bedrock and tags of Ollama have colons of their own.
 * @throws ModelConfigurationError
 */
export function parseModelName(text: string): ModelName {
  if (text.length > MAX_CHARACTERS) refuse(`A model's name has at most ${MAX_CHARACTERS} characters.`)
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) refuse("A model's name has no control characters.")
  const slash = text.indexOf('/')
  const provider = PROVIDERS.find((name) => name === text.slice(0, Math.max(slash, 0)))
  if (!provider) {
    refuse(
      `The model ${quote(text)} names no known provider: write ${FORM} with one of ${PROVIDERS.join(', ')}.`,
    )
  }
  const rest = text.slice(slash + 1)
  const colon = rest.lastIndexOf(':')
  const reasoning = REASONING_LEVELS.find((level) => colon >= 0 && level === rest.slice(colon + 1))
  const model = reasoning ? rest.slice(0, colon) : rest
  if (model.trim() === '') refuse(`The model ${quote(text)} has no name behind its provider: write ${FORM}.`)
  if (model.endsWith(':')) {
    refuse(
      `The model ${quote(text)} has no reasoning level behind its colon: ${REASONING_LEVELS.join(', ')}.`,
    )
  }
  return { provider, model, reasoning: reasoning ?? 'default' }
}

/** As it goes on the record: without the level when it is `default`. */
export function formatModelName({ provider, model, reasoning }: ModelName): string {
  return reasoning === 'default' ? `${provider}/${model}` : `${provider}/${model}:${reasoning}`
}

const quote = (text: string) => JSON.stringify(text)

function refuse(message: string): never {
  throw new ModelConfigurationError(message)
}
