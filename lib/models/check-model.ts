import { ModelConfigurationError } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { formatModelName, type ModelName, parseModelName, REASONING_LEVELS } from './model-name.ts'
import { isKeptElsewhere } from './provider-keys.ts'
import { supportedLevels } from './reasoning.ts'
import { AWS_ACCESS_KEY_ID, AWS_BEARER_TOKEN_BEDROCK, AWS_SECRET_ACCESS_KEY, SETTINGS } from './settings.ts'

/**
 * Finds out, before anything is spent, whether a model can be asked at all: its name, its level, and what the
 * environment has for its provider. Neither network nor provider package is touched.
 * @throws ModelConfigurationError
 */
export function checkModel(text: string, environment: Environment): ModelName {
  const name = parseModelName(text)
  for (const check of [checkVariables, checkBaseUrl, checkSecrets, checkColon, checkLevel]) {
    const problem = check(name, environment)
    if (problem)
      throw new ModelConfigurationError(`The model ${formatModelName(name)} cannot be used: ${problem}`)
  }
  return name
}

type Finding = string | undefined

function checkVariables({ provider }: ModelName, environment: Environment): Finding {
  const missing = SETTINGS[provider].required.find(
    (variable) => !environment[variable] && !isKeptElsewhere(variable, environment),
  )
  if (missing) return `the environment variable ${missing} is not set.`
  const hasKeys = environment[AWS_ACCESS_KEY_ID] && environment[AWS_SECRET_ACCESS_KEY]
  if (provider !== 'bedrock' || hasKeys || environment[AWS_BEARER_TOKEN_BEDROCK]) return undefined
  return `there are no AWS credentials: set ${AWS_ACCESS_KEY_ID} and ${AWS_SECRET_ACCESS_KEY}, or ${AWS_BEARER_TOKEN_BEDROCK}.`
}

/** The address itself is not repeated: it may hold a password. */
function checkBaseUrl({ provider }: ModelName, environment: Environment): Finding {
  const variable = SETTINGS[provider].baseUrl
  const value = environment[variable]
  if (!value) return undefined
  const url = URL.parse(value)
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash
  if (isPlain && /^https?:$/.test(url.protocol)) return undefined
  return `${variable} must be an http or https address without credentials, query or fragment.`
}

/** Else the HTTP client refuses the header, with a message that shows the key. */
function checkSecrets({ provider }: ModelName, environment: Environment): Finding {
  const isSendable = SETTINGS[provider].secrets.every((name) =>
    /^[\x21-\x7e]*$/.test(environment[name] ?? ''),
  )
  if (isSendable) return undefined
  return `${SETTINGS[provider].secrets.join(' or ')} has characters that no key has, such as a space or a line break.`
}

/** No model of Anthropic or OpenAI has a colon in its name but fine-tuned ones: it is a level spelled wrong. */
function checkColon({ provider, model }: ModelName, environment: Environment): Finding {
  const isTheirs =
    (provider === 'anthropic' || provider === 'openai') && !environment[SETTINGS[provider].baseUrl]
  if (!isTheirs || model.startsWith('ft:') || !model.includes(':')) return undefined
  return `behind the colon goes a reasoning level, one of ${REASONING_LEVELS.join(', ')}.`
}

function checkLevel(name: ModelName): Finding {
  const levels = supportedLevels(name)
  if (levels.includes(name.reasoning)) return undefined
  return `it has no reasoning level "${name.reasoning}"; it takes ${levels.join(', ')}.`
}
