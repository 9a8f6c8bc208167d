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
import { withWireRules } from './wire/wire-model.ts'

/**
 * Opens a model through the provider's package of the AI SDK. Each `respond` sends one request, without retries. The SDK's
 * `generateText` is not used because it validates and converts the complete history for each request.
 * @throws ModelConfigurationError; ModelError if the API key cannot be read
 */
export async function openModel(text: string, baseEnvironment: Environment): Promise<Model> {
  const { provider } = checkModel(text, baseEnvironment)
  const environment = await withProviderKey(provider, baseEnvironment)
  const name = checkModel(text, environment)
  const model = withWireRules(await openProvider(name, environment), name)
  const settings = withoutStorage(toReasoningSettings(name))
  return {
    name: formatModelName(name),
    userMessage: toUserMessage,
    toolMessage: toToolMessage,
    async respond(request) {
      const { tools, signal } = request
      try {
        const result = await model.doGenerate({
          ...settings,
          prompt: toPrompt(request),
          ...(tools.length > 0 && { tools: tools.map(toFunctionTool), toolChoice: { type: 'auto' } }),
          abortSignal: signal,
        })
        return toResponse(result, { provider, tools })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        const secrets = getSecrets(provider, environment)
        throw toModelError(error, { provider, secrets, request, now: Date.now() })
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
