import { ModelConfigurationError } from '../core/model.ts'
import { type Environment, readInteger } from '../environment.ts'
import { formatModelName, type ModelName, parseModelName, REASONING_LEVELS } from './model-name.ts'
import { hasParameter } from './providers/provider-keys.ts'
import {
  AWS_ACCESS_KEY_ID,
  AWS_BEARER_TOKEN_BEDROCK,
  AWS_SECRET_ACCESS_KEY,
  OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS,
  SETTINGS,
} from './providers/provider-settings.ts'
import { getSupportedLevels } from './providers/reasoning.ts'

/**
 * Checks the name of a model, its reasoning level and the provider's settings in the environment. Sends no request and
 * loads no provider package.
 * @throws ModelConfigurationError
 */
export function checkModel(text: string, environment: Environment): ModelName {
  const name = parseModelName(text)
  for (const findProblem of [
    checkVariables,
    checkBaseUrl,
    checkSecrets,
    checkOutputLimit,
    checkColon,
    checkLevel,
  ]) {
    const problem = findProblem(name, environment)
    if (problem)
      throw new ModelConfigurationError(`Cannot use the model ${formatModelName(name)}: ${problem}`)
  }
  return name
}

type Problem = string | undefined

function checkVariables({ provider }: ModelName, environment: Environment): Problem {
  const missing = SETTINGS[provider].required.find(
    (variable) => !environment[variable] && !hasParameter(variable, environment),
  )
  if (missing) return `the environment variable ${missing} is not set.`
  const hasKeys = environment[AWS_ACCESS_KEY_ID] && environment[AWS_SECRET_ACCESS_KEY]
  if (provider !== 'bedrock' || hasKeys || environment[AWS_BEARER_TOKEN_BEDROCK]) return undefined
  return `no AWS credentials found. Set ${AWS_ACCESS_KEY_ID} and ${AWS_SECRET_ACCESS_KEY}, or ${AWS_BEARER_TOKEN_BEDROCK}.`
}

/** The message does not contain the URL, because it may contain a password. */
function checkBaseUrl({ provider }: ModelName, environment: Environment): Problem {
  const variable = SETTINGS[provider].baseUrl
  const value = environment[variable]
  if (!value) return undefined
  const url = URL.parse(value)
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash
  if (isPlain && /^https?:$/.test(url.protocol)) return undefined
  return `${variable} must be an http or https URL without credentials, query or fragment.`
}

/** Otherwise the HTTP client rejects the header with an error that contains the key. */
function checkSecrets({ provider }: ModelName, environment: Environment): Problem {
  const { secrets } = SETTINGS[provider]
  if (secrets.every((name) => /^[\x21-\x7e]*$/.test(environment[name] ?? ''))) return undefined
  return `${secrets.join(' or ')} contains an invalid character, such as a space or a line break.`
}

function checkOutputLimit({ provider }: ModelName, environment: Environment): Problem {
  if (provider !== 'openai-compatible') return undefined
  try {
    readInteger(OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS, 1, environment)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** At Anthropic and OpenAI only fine-tuned models have a colon in their name. Others end in an unknown level. */
function checkColon({ provider, model }: ModelName, environment: Environment): Problem {
  const isOfficialApi =
    (provider === 'anthropic' || provider === 'openai') && !environment[SETTINGS[provider].baseUrl]
  if (!isOfficialApi || model.startsWith('ft:') || !model.includes(':')) return undefined
  return `the part after the colon must be a reasoning level, one of ${REASONING_LEVELS.join(', ')}.`
}

function checkLevel(name: ModelName): Problem {
  const levels = getSupportedLevels(name)
  if (levels.includes(name.reasoning)) return undefined
  return `the reasoning level "${name.reasoning}" is not supported. Supported levels: ${levels.join(', ')}.`
}
