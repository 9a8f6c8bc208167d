import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ModelSettings } from '../core/agent.ts'
import { FINAL_ANSWER, type Model, type ModelRequest } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { checkModel } from './check-model.ts'
import { rejectsResponseFormat } from './errors/rejects-response-format.ts'
import { toModelError } from './errors/to-model-error.ts'
import { toFunctionTool, toPrompt, toToolMessage, toUserMessage } from './messages/to-prompt.ts'
import { toResponse } from './messages/to-response.ts'
import { formatModelName } from './model-name.ts'
import { defaultOutputLimit, outputLimitOf } from './output-limit.ts'
import { getAnswerModes } from './providers/answer-modes.ts'
import { openProvider } from './providers/open-provider.ts'
import { withProviderKey } from './providers/provider-keys.ts'
import { getSecrets } from './providers/provider-settings.ts'
import { type ReasoningSettings, toReasoningSettings } from './providers/reasoning.ts'
import { STREAM_TRAITS } from './providers/stream-traits.ts'
import { collectStream } from './streaming/collect-stream.ts'
import { startTokenTimeout, TOKEN_TIMEOUTS, type TokenTimeouts } from './streaming/token-timeout.ts'
import { withWireRules } from './wire/wire-model.ts'

type Options = { settings?: ModelSettings | undefined; timeouts?: TokenTimeouts }

/**
 * Opens a model through the provider's package of the AI SDK. Each `respond` sends one request, without retries, except that a
 * server that rejects `response_format` gets the request again with a tool instead. Responses are streamed, so that a long
 * one is not taken for a dead connection, and returned when they are complete. The SDK's `streamText` is not used because it
 * validates and converts the complete history for each request.
 * @throws ModelConfigurationError; ModelError if the API key cannot be read
 */
export async function openModel(
  text: string,
  baseEnvironment: Environment,
  { settings = {}, timeouts = TOKEN_TIMEOUTS }: Options = {},
): Promise<Model> {
  const { provider } = checkModel(text, baseEnvironment)
  const environment = await withProviderKey(provider, baseEnvironment)
  const name = checkModel(text, environment)
  const model = withWireRules(await openProvider(name, environment), name)
  const { maxOutputTokens, ...options } = { ...toReasoningSettings(name), ...settings }
  const fixed = withProviderOptions(options)
  const limit = maxOutputTokens ?? defaultOutputLimit(provider, environment)
  const traits = STREAM_TRAITS[provider]
  let rejectsFormat = false

  async function send(request: ModelRequest, isJson: boolean) {
    const { signal, tools } = request
    const timeout = startTokenTimeout(provider, timeouts, signal)
    let hasBegun = false
    try {
      const outputLimit = outputLimitOf(request, limit)
      const { stream } = await model.doStream({
        ...fixed,
        ...(outputLimit !== undefined && { maxOutputTokens: outputLimit }),
        ...(isJson ? toResponseFormat(request) : toTools(request)),
        prompt: toPrompt(request),
        abortSignal: timeout.signal,
        includeRawChunks: traits.hidesRefusals,
      })
      hasBegun = true
      const result = await collectStream(stream, timeout, traits)
      return toResponse(result, { provider, tools })
    } catch (error) {
      if (timeout.signal.aborted) throw timeout.signal.reason
      rejectsFormat ||= isJson && rejectsResponseFormat(error)
      const secrets = getSecrets(provider, environment)
      throw toModelError(error, { provider, secrets, request, hasBegun, now: Date.now() })
    } finally {
      timeout.stop()
    }
  }

  return {
    name: formatModelName(name),
    answerModes: getAnswerModes(name),
    userMessage: toUserMessage,
    toolMessage: toToolMessage,
    respond(request) {
      if (request.answerMode !== 'json' || rejectsFormat) return send(request, false)
      return send(request, true).catch((error: unknown) => {
        if (rejectsFormat) return send(request, false)
        throw error
      })
    },
  }
}

function toTools({ tools, answerMode }: ModelRequest): Partial<LanguageModelV4CallOptions> {
  if (tools.length === 0) return {}
  const isForced = answerMode === 'forced-tool'
  const toolChoice = isForced ? { type: 'tool' as const, toolName: FINAL_ANSWER } : { type: 'auto' as const }
  return { tools: tools.map(toFunctionTool), toolChoice }
}

function toResponseFormat({ tools }: ModelRequest): Partial<LanguageModelV4CallOptions> {
  const schema = tools.find(({ name }) => name === FINAL_ANSWER)?.inputSchema
  return { responseFormat: { type: 'json', name: 'result', ...(schema && { schema }) } }
}

/**
 * With storage, OpenAI keeps the conversation and later requests only reference it. In strict mode, a server accepts only
 * schemas without optional fields; the result is validated here anyway.
 */
function withProviderOptions({ providerOptions, ...rest }: ReasoningSettings): ReasoningSettings {
  const { openai, openaiCompatible } = providerOptions ?? {}
  return {
    ...rest,
    providerOptions: {
      ...providerOptions,
      openai: { ...openai, store: false },
      openaiCompatible: { ...openaiCompatible, strictJsonSchema: false },
    },
  }
}
