import { hashJson } from '../../lib/core/json/hash-json.ts'
import { ModelError } from '../../lib/core/model.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { toRequestKey } from '../../lib/engine/request-key.ts'
import type { Environment } from '../../lib/environment.ts'
import { endpointsOf, getEndpointSecrets } from '../../lib/models/endpoints/model-endpoints.ts'
import { openModel } from '../../lib/models/open-model.ts'
import { getSecrets } from '../../lib/models/providers/provider-settings.ts'
import { PROVIDERS } from '../../lib/models/providers/providers.ts'
import { openTools } from '../../lib/tools/open-tools.ts'
import type { RecordedError } from './recording.ts'

/**
 * Models and tools of a run whose journal becomes a recording: without API keys, which a server may repeat.
 * `lib/tools` masks the secrets of tools. `getErrors`: of requests that would fail again.
 */
export function recordSources(environment: Environment) {
  const mask = maskOf(environment)
  const errors = new Map<string, RecordedError>()
  const sources: Pick<Engine, 'openModel' | 'openTools'> = {
    async openModel(...params) {
      const model = await openModel(...params)
      const respond: typeof model.respond = async (request) => {
        try {
          return mask(await model.respond(request))
        } catch (error) {
          if (error instanceof ModelError && !error.isTransient) {
            const key = toRequestKey(model.name, request)
            const { isRefusal } = error
            errors.set(hashJson(key), { request: key, error: { message: mask(error.message), isRefusal } })
          }
          throw error
        }
      }
      return { ...model, respond }
    },

    async openTools(...params) {
      const tools = await openTools(...params)
      return { ...tools, call: async (...call) => mask(await tools.call(...call)) }
    },
  }
  // Parallel requests fail in any order.
  const getErrors = () => [...errors].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, error]) => error)
  return { sources, getErrors }
}

/** The API keys of models. */
export const providerKeysOf = (environment: Environment): string[] => [
  ...PROVIDERS.flatMap((provider) => getSecrets(provider, environment)),
  ...Object.values(endpointsOf(environment)).flatMap((endpoint) => getEndpointSecrets(endpoint, environment)),
]

function maskOf(environment: Environment): <T>(value: T) => T {
  const secrets = providerKeysOf(environment)
  return <T>(value: T): T => {
    const text = JSON.stringify(value)
    const masked = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
    return masked === text ? value : (JSON.parse(masked) as T)
  }
}
