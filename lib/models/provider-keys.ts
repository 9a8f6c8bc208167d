import { ModelConfigurationError, ModelError } from '../core/model.ts'
import { ANTHROPIC_API_KEY_PARAMETER, type Environment, OPENAI_API_KEY_PARAMETER } from '../environment.ts'
import type { Provider } from './model-name.ts'
import { ANTHROPIC_API_KEY, OPENAI_API_KEY } from './settings.ts'

/** How long a rotated key may still be used. */
const CACHE_SECONDS = 60

type Source = { key: string; parameter: string }

const SOURCES: Partial<Record<Provider, Source>> = {
  openai: { key: OPENAI_API_KEY, parameter: OPENAI_API_KEY_PARAMETER },
  anthropic: { key: ANTHROPIC_API_KEY, parameter: ANTHROPIC_API_KEY_PARAMETER },
}

/** Whether the key of a variable is to be had elsewhere. Asks nobody. */
export function isKeptElsewhere(variable: string, environment: Environment): boolean {
  return Object.values(SOURCES).some(({ key, parameter }) => key === variable && environment[parameter])
}

/**
 * The environment with the provider's API key in it. One that is not there is read from the SSM parameter that the
 * environment names, if it does.
 * @throws ModelConfigurationError when there is no such parameter; ModelError when it could not be read
 */
export async function withProviderKey(provider: Provider, environment: Environment): Promise<Environment> {
  const source = SOURCES[provider]
  const name = source && environment[source.parameter]
  if (!source || !name || environment[source.key]) return environment
  return { ...environment, [source.key]: await readParameter(name) }
}

async function readParameter(name: string): Promise<string> {
  const parameters = await store()
  try {
    const value = (await parameters.get(name, { decrypt: true, maxAge: CACHE_SECONDS }))?.trim()
    if (value) return value
  } catch (error) {
    const { name: reason } = ((error as Error).cause ?? error) as Error
    if (reason !== 'ParameterNotFound') {
      const message = `The SSM parameter ${name} with the API key could not be read (${reason}).`
      throw new ModelError(message, { isTransient: true, cause: error })
    }
  }
  throw new ModelConfigurationError(`There is no API key in the SSM parameter ${name}.`)
}

let opened: ReturnType<typeof openStore> | undefined

/** One a process: it holds the cache. */
function store() {
  opened ??= openStore()
  return opened
}

async function openStore() {
  const { SSMProvider } = await import('@aws-lambda-powertools/parameters/ssm')
  return new SSMProvider()
}
