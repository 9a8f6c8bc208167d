import type { Model } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { checkModel } from './check-model.ts'
import { toFunctionTool, toolMessage, toPrompt, userMessage } from './messages.ts'
import { toModelError } from './model-error.ts'
import { formatModelName } from './model-name.ts'
import { openProvider } from './open-provider.ts'
import { withProviderKey } from './provider-keys.ts'
import { type ReasoningSettings, reasoningSettings } from './reasoning.ts'
import { toResponse } from './response.ts'
import { secretsOf } from './settings.ts'

/**
 * The model of that name, over the provider's package of the AI SDK: one request, one response, no retries. Not over the
 * SDK's `generateText`: that validates and converts the whole history each time.
 * @throws ModelConfigurationError; ModelError when its API key could not be read
 */
export async function openModel(text: string, given: Environment): Promise<Model> {
  const { provider } = checkModel(text, given)
  const environment = await withProviderKey(provider, given)
  const name = checkModel(text, environment)
  const model = await openProvider(name, environment)
  const settings = withoutStorage(reasoningSettings(name))
  return {
    name: formatModelName(name),
    userMessage,
    toolMessage,
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
        const secrets = secretsOf(provider, environment)
        throw toModelError(error, { provider, secrets, request, now: Date.now() })
      }
    },
  }
}

/** Else OpenAI keeps the conversation, and the history sent back only points to it. */
function withoutStorage({ providerOptions, ...rest }: ReasoningSettings): ReasoningSettings {
  return {
    ...rest,
    providerOptions: { ...providerOptions, openai: { ...providerOptions?.openai, store: false } },
  }
}
