import { ModelConfigurationError, ModelError } from '../../core/model.ts'
import type { Environment } from '../../environment.ts'
import { ParameterReadError, readParameter } from '../../parameter-store.ts'
import type { Provider } from '../model-name.ts'
import { toParameterVariable, traitsOf } from './providers.ts'

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
