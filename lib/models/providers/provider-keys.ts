import { ModelConfigurationError, ModelError } from '../../core/model.ts'
import { ANTHROPIC_API_KEY_PARAMETER, type Environment, OPENAI_API_KEY_PARAMETER } from '../../environment.ts'
import { ParameterReadError, readParameter } from '../../parameter-store.ts'
import type { Provider } from '../model-name.ts'
import { ANTHROPIC_API_KEY, OPENAI_API_KEY } from './provider-settings.ts'

/** `key`: the variable with the API key. `parameter`: the variable with the name of its SSM parameter. */
type Source = { key: string; parameter: string }

const SOURCES: Partial<Record<Provider, Source>> = {
  openai: { key: OPENAI_API_KEY, parameter: OPENAI_API_KEY_PARAMETER },
  anthropic: { key: ANTHROPIC_API_KEY, parameter: ANTHROPIC_API_KEY_PARAMETER },
}

/** Whether the environment names an SSM parameter for the value of a variable. */
export function hasParameter(variable: string, environment: Environment): boolean {
  return Object.values(SOURCES).some(({ key, parameter }) => key === variable && environment[parameter])
}

/**
 * Adds the provider's API key to the environment if it is missing there and an SSM parameter is configured.
 * @throws ModelConfigurationError if the parameter does not exist or is empty; ModelError if it cannot be read
 */
export async function withProviderKey(provider: Provider, environment: Environment): Promise<Environment> {
  const source = SOURCES[provider]
  const parameter = source && environment[source.parameter]
  if (!source || !parameter || environment[source.key]) return environment
  return { ...environment, [source.key]: await readKey(parameter) }
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
