import { ModelConfigurationError, ModelError } from '../../core/model.ts'
import type { Environment } from '../../environment.ts'
import { ParameterReadError, readParameter } from '../../parameter-store.ts'
import { PROVIDERS, type Provider, type TRAITS, traitsOf } from './providers.ts'

/** Shorter values are placeholders such as "ollama", which local servers accept. Masking them would garble messages. */
const MIN_SECRET_LENGTH = 8

/** The values to mask in messages. */
export function getSecrets(provider: Provider, environment: Environment): string[] {
  return traitsOf(provider).variables.secrets.flatMap((name) => {
    const value = environment[name] ?? ''
    return value.length < MIN_SECRET_LENGTH ? [] : [value]
  })
}

/** The variables of all providers that contain no secret. */
export function getPublicVariables(): string[] {
  const names = PROVIDERS.flatMap((provider) => {
    const { baseUrl, required, outputLimit, secrets } = traitsOf(provider).variables
    const all = [baseUrl, ...required, ...(outputLimit ? [outputLimit.name] : [])]
    return all.filter((name) => !secrets.includes(name))
  })
  return [...new Set(names)]
}

/** The variable with the name of the SSM parameter that contains an API key. */
export const toParameterVariable = (apiKey: string): string => `${apiKey}_PARAMETER`

/** The setting of a stack with the name of that parameter, for each provider whose API key a stack can read. */
export type KeySetting = {
  [Name in Provider]: (typeof TRAITS)[Name]['variables'] extends { apiKey: string }
    ? `${Name}KeyParameter`
    : never
}[Provider]

/** The API keys that a stack can read. */
export const STACK_KEYS = PROVIDERS.flatMap((provider) => {
  const { variables } = traitsOf(provider)
  if (!variables.apiKey) return []
  const setting = `${provider}KeyParameter` as KeySetting
  return [{ setting, variable: toParameterVariable(variables.apiKey) }]
})

/**
 * Adds the provider's API key to the environment if it is missing there and an SSM parameter is configured.
 * @throws ModelConfigurationError if the parameter does not exist or is empty; ModelError if it cannot be read
 */
export async function withProviderKey(provider: Provider, environment: Environment): Promise<Environment> {
  const { apiKey } = traitsOf(provider).variables
  const parameter = apiKey && environment[toParameterVariable(apiKey)]
  if (!apiKey || !parameter || environment[apiKey]) return environment
  return { ...environment, [apiKey]: await readKey(parameter) }
}

async function readKey(parameter: string): Promise<string> {
  const value = await readParameter(parameter).catch((error: unknown) => {
    if (!(error instanceof ParameterReadError)) throw error
    const message = `Could not read the API key from the SSM parameter ${parameter} (${error.reason}).`
    throw new ModelError(message, { isTransient: true, cause: error })
  })
  const key = value?.trim()
  if (!key) throw new ModelConfigurationError(`The SSM parameter ${parameter} does not contain an API key.`)
  return key
}
