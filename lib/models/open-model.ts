import type { Model } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { checkModel } from './check-model.ts'
import { toModelError } from './errors/to-model-error.ts'
import { toFunctionTool, toPrompt, toToolMessage, toUserMessage } from './messages/to-prompt.ts'
import { toResponse } from './messages/to-response.ts'
import { formatModelName } from './model-name.ts'
import { openProvider } from './providers/open-provider.ts'
import { withProviderKey } from './providers/provider-keys.ts'
import { getSecrets } from './providers/provider-settings.ts'
import { type ReasoningSettings, toReasoningSettings } from './providers/reasoning.ts'
import { collectStream } from './streaming/collect-stream.ts'
import { startTokenTimeout, TOKEN_TIMEOUTS } from './streaming/token-timeout.ts'

/**
 * Opens a model through the provider's package of the AI SDK. Each `respond` sends one request, without retries. Responses are
 * streamed, so that a long one is not taken for a dead connection, and returned when they are complete. The SDK's
 * `streamText` is not used because it validates and converts the complete history for each request.
 * @throws ModelConfigurationError; ModelError if the API key cannot be read
 */
export async function openModel(
  text: string,
  baseEnvironment: Environment,
  timeouts = TOKEN_TIMEOUTS,
): Promise<Model> {
  const { provider } = checkModel(text, baseEnvironment)
  const environment = await withProviderKey(provider, baseEnvironment)
  const name = checkModel(text, environment)
  const model = await openProvider(name, environment)
  const settings = withoutStorage(toReasoningSettings(name))
  return {
    name: formatModelName(name),
    userMessage: toUserMessage,
    toolMessage: toToolMessage,
    async respond(request) {
      const { tools, signal } = request
      const timeout = startTokenTimeout(provider, timeouts, signal)
      let hasBegun = false
      try {
        const { stream } = await model.doStream({
          ...settings,
          prompt: toPrompt(request),
          ...(tools.length > 0 && { tools: tools.map(toFunctionTool), toolChoice: { type: 'auto' } }),
          abortSignal: timeout.signal,
          includeRawChunks: provider === 'openai' || provider === 'openai-compatible',
        })
        hasBegun = true
        const result = await collectStream(stream, timeout, { endsWithUsage: provider === 'bedrock' })
        return toResponse(result, { provider, tools })
      } catch (error) {
        if (timeout.signal.aborted) throw timeout.signal.reason
        const secrets = getSecrets(provider, environment)
        throw toModelError(error, { provider, secrets, request, hasBegun, now: Date.now() })
      } finally {
        timeout.stop()
      }
    },
  }
}

/** With storage, OpenAI keeps the conversation and later requests only reference it. */
function withoutStorage({ providerOptions, ...rest }: ReasoningSettings): ReasoningSettings {
  return {
    ...rest,
    providerOptions: { ...providerOptions, openai: { ...providerOptions?.openai, store: false } },
  }
}
