import { ModelConfigurationError, ModelError } from '../../core/model.ts'
import type { Environment } from '../../environment.ts'
import { ParameterReadError } from '../../parameter-store.ts'
import { readSecret, SECRET_REFERENCE } from '../../secret-store.ts'
import type { ModelName } from '../model-name.ts'
import { getSecrets, withProviderKey } from '../providers/provider-settings.ts'
import { traitsOf } from '../providers/providers.ts'
import { type ModelEndpoint, secretsOf } from './model-endpoints.ts'

/** How to send requests to a model. */
export type Connection = {
  /** The environment with the base URL and the key that the package of the provider gets. */
  environment: Environment
  /** Values to mask in messages. */
  secrets: string[]
  fetch: typeof fetch
}

/**
 * Reads the API key and the headers for a model.
 * @param send the `fetch` of the connection, without its headers
 * @throws ModelConfigurationError if one is missing or invalid; ModelError if one cannot be read
 */
export async function connect(
  { provider, endpoint }: ModelName,
  base: Environment,
  send: typeof fetch,
): Promise<Connection> {
  if (!endpoint) {
    const environment = await withProviderKey(provider, base)
    return { environment, secrets: getSecrets(provider, environment), fetch: send }
  }
  const values = await readSecrets(endpoint, base)
  const fill = (text: string) => text.replace(SECRET_REFERENCE, (_, name: string) => values.get(name) ?? '')
  const headers = Object.entries(endpoint.headers).map(([name, value]) => [name, fill(value)] as const)
  const { baseUrl, secrets } = traitsOf(provider).variables
  const key = Object.fromEntries(secrets.map((name) => [name, fill(endpoint.apiKey ?? '')]))
  return {
    environment: { ...base, ...key, [baseUrl]: endpoint.baseUrl },
    secrets: [...values.values()],
    fetch: fetchWith(send, headers, endpoint.apiKey !== undefined),
  }
}

async function readSecrets(endpoint: ModelEndpoint, environment: Environment): Promise<Map<string, string>> {
  const { name: owner } = endpoint
  const entries = secretsOf(endpoint).map(async (name): Promise<[string, string]> => {
    const value = await readSecret(name, environment).catch((error: unknown) => {
      if (!(error instanceof ParameterReadError)) throw error
      const message = `Could not read the secret ${name} of the endpoint ${owner} (${error.reason}).`
      throw new ModelError(message, { isTransient: true, cause: error })
    })
    if (!value)
      throw new ModelConfigurationError(`The secret ${name} of the endpoint ${owner} does not exist.`)
    // Otherwise the HTTP client rejects the header with an error that contains it.
    if (/[^\x20-\x7e]/.test(value))
      throw new ModelConfigurationError(
        `The secret ${name} of the endpoint ${owner} contains an invalid character.`,
      )
    return [name, value]
  })
  return new Map(await Promise.all(entries))
}

/** In which the packages send an API key, also an empty one. */
const KEY_HEADERS = ['authorization', 'x-api-key']

const fetchWith =
  (send: typeof fetch, headers: (readonly [string, string])[], hasKey: boolean): typeof fetch =>
  (input, init) => {
    const all = new Headers(init?.headers)
    if (!hasKey) for (const name of KEY_HEADERS) all.delete(name)
    for (const [name, value] of headers) all.set(name, value)
    return send(input, { ...init, headers: all })
  }
