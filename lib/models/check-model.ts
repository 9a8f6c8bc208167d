import { ModelConfigurationError, WEB_SEARCH } from '../core/model.ts'
import { type Environment, readInteger } from '../environment.ts'
import { findMissingSecret } from './endpoints/model-endpoints.ts'
import { formatModelName, type ModelName, parseModelName } from './model-name.ts'
import { acceptsMedia, getSupportedLevels, supports } from './providers/model-traits.ts'
import { toParameterVariable } from './providers/provider-settings.ts'
import { REASONING_LEVELS } from './providers/provider-traits.ts'
import { traitsOf } from './providers/providers.ts'

/**
 * Checks the name of a model, its reasoning level and the provider's settings in the environment. Sends no request and
 * loads no provider package.
 * @throws ModelConfigurationError
 */
export function checkModel(text: string, environment: Environment): ModelName {
  const name = parseModelName(text, environment)
  const checks = name.endpoint
    ? [checkEndpointSecrets, checkLevel]
    : [checkVariables, checkBaseUrl, checkSecrets, checkOutputLimit, checkColon, checkLevel]
  for (const findProblem of checks) {
    const problem = findProblem(name, environment)
    if (problem)
      throw new ModelConfigurationError(`Cannot use the model ${formatModelName(name)}: ${problem}`)
  }
  return name
}

/** Why a model cannot read files of these types; undefined if it can. */
export function findMediaProblem(name: ModelName, mediaTypes: readonly string[]): string | undefined {
  const refused = mediaTypes.find((mediaType) => !acceptsMedia(name, mediaType))
  return refused && `The model ${formatModelName(name)} does not accept files of type ${refused}.`
}

/** Why the provider of a model does not search the web for it as an agent says; undefined if it does. */
export function findSearchProblem(
  name: ModelName,
  { blockedDomains }: { blockedDomains?: string[] | undefined },
): string | undefined {
  const { webSearch } = traitsOf(name.provider)
  if (webSearch && supports(name, 'webSearch'))
    return blockedDomains && !webSearch.blocksDomains
      ? `The provider of the model ${formatModelName(name)} has no blockedDomains for searches of the web. Use allowedDomains.`
      : undefined
  return `The provider of the model ${formatModelName(name)} does not search the web for it, as the tool ${WEB_SEARCH} requires. Use a model of anthropic or openai that can.`
}

type Problem = string | undefined

function checkEndpointSecrets({ endpoint }: ModelName, environment: Environment): Problem {
  const missing = endpoint && findMissingSecret(endpoint, environment)
  return missing && `the secret ${missing} of the endpoint ${endpoint.name} is not set.`
}

function checkVariables({ provider }: ModelName, environment: Environment): Problem {
  const { variables, findProblem } = traitsOf(provider)
  const { required, apiKey } = variables
  const hasParameter = apiKey && environment[toParameterVariable(apiKey)]
  const missing = required.find((name) => !environment[name] && !(name === apiKey && hasParameter))
  return missing ? `the environment variable ${missing} is not set.` : findProblem?.(environment)
}

/** The message does not contain the URL, because it may contain a password. */
function checkBaseUrl({ provider }: ModelName, environment: Environment): Problem {
  const variable = traitsOf(provider).variables.baseUrl
  const value = environment[variable]
  if (!value) return undefined
  const url = URL.parse(value)
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash
  if (isPlain && /^https?:$/.test(url.protocol)) return undefined
  return `${variable} must be an http or https URL without credentials, query or fragment.`
}

/** Otherwise the HTTP client rejects the header with an error that contains the key. */
function checkSecrets({ provider }: ModelName, environment: Environment): Problem {
  const { secrets } = traitsOf(provider).variables
  if (secrets.every((name) => /^[\x21-\x7e]*$/.test(environment[name] ?? ''))) return undefined
  return `${secrets.join(' or ')} contains an invalid character, such as a space or a line break.`
}

function checkOutputLimit({ provider }: ModelName, environment: Environment): Problem {
  const { outputLimit } = traitsOf(provider).variables
  try {
    if (outputLimit) readInteger(outputLimit.name, outputLimit.default, environment)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** If only fine-tuned models have a colon in their name, a colon in another name precedes an unknown level. */
function checkColon({ provider, model }: ModelName, environment: Environment): Problem {
  const { hasColons, variables } = traitsOf(provider)
  if (hasColons || environment[variables.baseUrl] || model.startsWith('ft:') || !model.includes(':'))
    return undefined
  return `the part after the colon must be a reasoning level, one of ${REASONING_LEVELS.join(', ')}.`
}

function checkLevel(name: ModelName): Problem {
  const levels = getSupportedLevels(name)
  if (levels.includes(name.reasoning)) return undefined
  return `the reasoning level "${name.reasoning}" is not supported. Supported levels: ${levels.join(', ')}.`
}
