import { ModelError, type RequestKey, type ToolCall, type ToolResult } from '../../lib/core/model.ts'
import { positionOfCall } from '../../lib/engine/model-agent/call-key.ts'
import { hash, toRequestKey } from '../../lib/engine/request-key.ts'
import { openLater, openModel } from '../../lib/models/open-model.ts'
import { openTools } from '../../lib/tools/open-tools.ts'
import { agentToolsOf, explainChange, type Recording, type Sources } from './recording.ts'

const RECORD = 'Run with --record.'

/**
 * Models and tools that repeat what was recorded, without a network, an API key or a secret.
 * @param onMiss called with a request or call that has no recording; the run cannot be right then
 */
export function replaySources(recording: Recording, onMiss: (message: string) => void): Sources {
  const responses = new Map(recording.responses.map((entry) => [hash(entry.request), entry]))
  const results = new Map(recording.calls.map(({ call, result }) => [hash(call), result]))
  const declarations = new Map(recording.declarations.map(({ tools, served }) => [tools, served]))

  async function respond(key: RequestKey) {
    const recorded = responses.get(hash(key))
    if (!recorded) {
      const known = recording.responses.map(({ request }) => request)
      const change = explainChange(key, known)
      const reason = change && 'The request has changed since it was recorded. '
      const message = `${reason}No recording for this model request.${change} ${RECORD}`
      onMiss(message)
      throw new ModelError(message, { isTransient: false })
    }
    if ('response' in recorded) return structuredClone(recorded.response)
    const { message, isRefusal } = recorded.error
    throw new ModelError(message, { isTransient: false, isRefusal })
  }

  function resultOf(call: ToolCall, at: string, tools: string): ToolResult {
    const result = results.get(hash({ tool: call.name, input: call.input, at, tools }))
    if (result) return structuredClone(result)
    const error = `No recording for this call of the tool ${call.name}. ${RECORD}`
    onMiss(error)
    return { ok: false, error }
  }

  return {
    async openModel(text, environment) {
      const model = openLater(openModel, text, environment)
      return { ...model, respond: (request) => respond(toRequestKey(model.name, request)) }
    },

    async openTools(documents, deps) {
      const documentsHash = hash(documents)
      const agents = agentToolsOf(documents)
      const served = declarations.get(documentsHash)
      // Opening an MCP tool without its declarations would connect to its server.
      const known = served ? documents : documents.filter(({ mcp }) => !mcp)
      const tools = await openTools(known, { ...deps, ...(served && { served }) })
      return {
        ...tools,
        call: async (call, options) =>
          agents.has(call.name)
            ? tools.call(call, options)
            : resultOf(call, positionOfCall(options.idempotencyKey), documentsHash),
      }
    },
  }
}
