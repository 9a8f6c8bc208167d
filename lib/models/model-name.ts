import { ModelConfigurationError } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { endpointsOf, type ModelEndpoint } from './endpoints/model-endpoints.ts'
import { PROVIDERS, type Provider, REASONING_LEVELS, type Reasoning } from './providers/provider-traits.ts'

/** With an endpoint, `provider` is the one whose format it has. */
export type ModelName = {
  provider: Provider
  endpoint?: ModelEndpoint | undefined
  model: string
  reasoning: Reasoning
}

const MAX_CHARACTERS = 200
const FORMAT = '"{provider}/{model}" or "{provider}/{model}:{reasoning}"'

/**
 * Parses `{provider}/{model}[:{reasoning}]`, where an endpoint can take the place of the provider. The part after the
 * last colon is a reasoning level only if it is a known one, because Bedrock model ids and Ollama tags contain colons.
 * @param environment has the endpoints
 * @throws ModelConfigurationError
 */
export function parseModelName(text: string, environment: Environment = process.env): ModelName {
  if (text.length > MAX_CHARACTERS) fail(`A model name must have at most ${MAX_CHARACTERS} characters.`)
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) fail('A model name must not contain control characters.')
  const name = JSON.stringify(text)
  const slash = text.indexOf('/')
  const prefix = text.slice(0, Math.max(slash, 0))
  const known = PROVIDERS.find((each) => each === prefix)
  const endpoints = known ? {} : endpointsOf(environment)
  const endpoint = Object.hasOwn(endpoints, prefix) ? endpoints[prefix] : undefined
  const provider = known ?? endpoint?.format
  if (!provider) {
    const prefixes = [...PROVIDERS, ...Object.keys(endpoints)].join(', ')
    fail(`The model name ${name} has no known provider. Use ${FORMAT} with one of ${prefixes}.`)
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
  return { provider, ...(endpoint && { endpoint }), model, reasoning: reasoning ?? 'default' }
}

const BEDROCK_ARN = /^arn:[\w-]+:bedrock:[\w-]*:\d*:(inference-profile|foundation-model)\//

/** The id of a model, without the rest of its ARN at Bedrock, or the one that follows an ARN, as in `{arn}#{id}`. */
export const toModelId = (model: string): string => model.replace(BEDROCK_ARN, '').replace(/^arn:.*#/, '')

/** The endpoint or the provider of a model, as its name has it. */
export const prefixOf = ({ provider, endpoint }: Pick<ModelName, 'provider' | 'endpoint'>): string =>
  endpoint?.name ?? provider

/** The name in execution records. Omits the level `default`. */
export function formatModelName(name: ModelName): string {
  const { model, reasoning } = name
  return `${prefixOf(name)}/${model}${reasoning === 'default' ? '' : `:${reasoning}`}`
}

function fail(message: string): never {
  throw new ModelConfigurationError(message)
}
