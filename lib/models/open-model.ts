import type { ModelMessage } from 'ai'
import type { Model } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { checkModel } from './check-model.ts'
import { toolMessage, toResponse, toToolSet, userMessage } from './messages.ts'
import { toModelFault } from './model-fault.ts'
import { formatModelName } from './model-name.ts'
import { openProvider } from './open-provider.ts'
import { withProviderKey } from './provider-keys.ts'
import { type ReasoningSettings, reasoningSettings } from './reasoning.ts'
import { secretsOf } from './settings.ts'

/**
 * The model of that name, over the AI SDK: one request, one response, no retries, no tool carried out.
 * @throws ModelRefusal; ModelFault when its API key could not be read
 */
export async function openModel(text: string, given: Environment): Promise<Model> {
  const { provider } = checkModel(text, given)
  const environment = await withProviderKey(provider, given)
  const name = checkModel(text, environment)
  const [sdk, model] = await Promise.all([import('ai'), openProvider(name, environment)])
  globalThis.AI_SDK_LOG_WARNINGS = false
  const settings = withoutStorage(reasoningSettings(name))
  return {
    name: formatModelName(name),
    userMessage,
    toolMessage,
    async respond(request) {
      const { instructions, messages, tools, signal } = request
      try {
        const { finalStep } = await sdk.generateText({
          model,
          ...settings,
          ...(instructions && { instructions }),
          messages: messages.filter((message) => message !== null) as unknown as ModelMessage[],
          ...(tools.length > 0 && { tools: toToolSet(sdk, tools) }),
          abortSignal: signal,
          maxRetries: 0,
        })
        return toResponse(finalStep, provider)
      } catch (error) {
        if (signal.aborted) throw signal.reason
        const secrets = secretsOf(provider, environment)
        throw toModelFault(error, { provider, secrets, request, now: Date.now() })
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
