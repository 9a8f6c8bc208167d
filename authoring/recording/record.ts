import { ModelError, type ModelResponse, type RequestKey, type ToolResult } from '../../lib/core/model.ts'
import { positionOfCall } from '../../lib/engine/model-agent/call-key.ts'
import { hash, toRequestKey } from '../../lib/engine/request-key.ts'
import type { Environment } from '../../lib/environment.ts'
import { endpointsOf, getEndpointSecrets } from '../../lib/models/endpoints/model-endpoints.ts'
import { openModel } from '../../lib/models/open-model.ts'
import { getSecrets } from '../../lib/models/providers/provider-settings.ts'
import { PROVIDERS } from '../../lib/models/providers/providers.ts'
import { openTools } from '../../lib/tools/open-tools.ts'
import {
  agentToolsOf,
  type CallKey,
  type RecordedResponse,
  type Recording,
  type Sources,
} from './recording.ts'

/**
 * Models and tools whose responses and results are added to a recording. Equal requests get the same response, so that
 * a replay does not depend on the order of parallel requests.
 */
export function recordSources(recording: Recording, environment: Environment): Sources {
  const mask = maskOf(environment)
  const responseTo = memoize<RequestKey, ModelResponse>()
  const resultOf = memoize<CallKey, ToolResult>()

  async function recordResponse(request: RequestKey, send: () => Promise<ModelResponse>) {
    // Added now: in the order of the requests, whichever is answered first.
    const entry = { request } as RecordedResponse
    recording.responses.push(entry)
    try {
      const response = mask(await send())
      Object.assign(entry, { response })
      return response
    } catch (error) {
      if (error instanceof ModelError && !error.isTransient) {
        const { message, isRefusal } = error
        Object.assign(entry, { error: { message, isRefusal } })
      } else recording.responses.splice(recording.responses.indexOf(entry), 1)
      throw error
    }
  }

  async function recordResult(call: CallKey, send: () => Promise<ToolResult>) {
    const result = mask(await send())
    recording.calls.push({ call, result })
    return result
  }

  return {
    async openModel(...params) {
      const model = await openModel(...params)
      return {
        ...model,
        respond(request) {
          const key = toRequestKey(model.name, request)
          return responseTo(key, () => recordResponse(key, () => model.respond(request)))
        },
      }
    },

    async openTools(documents, deps) {
      const tools = await openTools(documents, deps)
      const documentsHash = hash(documents)
      const agents = agentToolsOf(documents)
      const isKnown = recording.declarations.some((entry) => entry.tools === documentsHash)
      if (!isKnown && tools.served)
        recording.declarations.push({ tools: documentsHash, served: tools.served })
      return {
        ...tools,
        call(call, options) {
          if (agents.has(call.name)) return tools.call(call, options)
          const at = positionOfCall(options.idempotencyKey)
          const key = { tool: call.name, input: call.input, at, tools: documentsHash }
          return resultOf(key, () => recordResult(key, () => tools.call(call, options)))
        },
      }
    },
  }
}

/** Results by key. A computation that fails is forgotten, so that it can be repeated. */
function memoize<Key, Value>() {
  const values = new Map<string, Promise<Value>>()
  return (key: Key, compute: () => Promise<Value>): Promise<Value> => {
    const id = hash(key)
    const value = values.get(id) ?? compute()
    values.set(id, value)
    value.catch(() => values.delete(id))
    return value
  }
}

/** The API keys of models. */
export const providerKeysOf = (environment: Environment): string[] => [
  ...PROVIDERS.flatMap((provider) => getSecrets(provider, environment)),
  ...Object.values(endpointsOf(environment)).flatMap((endpoint) => getEndpointSecrets(endpoint, environment)),
]

/** Replaces API keys, which a server may repeat. `lib/tools` masks the secrets of tools. */
function maskOf(environment: Environment): <T>(value: T) => T {
  const secrets = providerKeysOf(environment)
  return <T>(value: T): T => {
    const text = JSON.stringify(value)
    const masked = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
    return masked === text ? value : (JSON.parse(masked) as T)
  }
}
