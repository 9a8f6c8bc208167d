import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Environment } from '../../environment.ts'
import type { ModelName } from '../model-name.ts'
import { streamingFetch } from '../streaming/streaming-fetch.ts'
import { bedrockFetch } from './bedrock-fetch.ts'
import {
  ANTHROPIC_API_KEY,
  AWS_ACCESS_KEY_ID,
  AWS_BEARER_TOKEN_BEDROCK,
  AWS_REGION,
  AWS_SECRET_ACCESS_KEY,
  AWS_SESSION_TOKEN,
  OPENAI_API_KEY,
  OPENAI_COMPATIBLE_API_KEY,
  SETTINGS,
} from './provider-settings.ts'

/**
 * Opens a model of the AI SDK. Loads the provider's package on first use. All settings are passed explicitly, empty if
 * missing, because the packages would otherwise read `process.env`.
 */
export async function openProvider(
  { provider, model }: ModelName,
  environment: Environment,
): Promise<LanguageModelV4> {
  const value = (name: string) => environment[name] ?? ''
  const baseURL = value(SETTINGS[provider].baseUrl)
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({
        apiKey: value(OPENAI_API_KEY),
        baseURL: baseURL || 'https://api.openai.com/v1',
        fetch: streamingFetch,
      })(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({
        apiKey: value(ANTHROPIC_API_KEY),
        baseURL: baseURL || 'https://api.anthropic.com/v1',
        fetch: streamingFetch,
      })(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const apiKey = value(OPENAI_COMPATIBLE_API_KEY)
      return createOpenAICompatible({
        name: provider,
        baseURL,
        ...(apiKey && { apiKey }),
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch: streamingFetch,
      })(model)
    }
    case 'bedrock': {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
      const region = value(AWS_REGION)
      const apiKey = value(AWS_BEARER_TOKEN_BEDROCK)
      const credentials = {
        accessKeyId: value(AWS_ACCESS_KEY_ID),
        secretAccessKey: value(AWS_SECRET_ACCESS_KEY),
        ...(value(AWS_SESSION_TOKEN) && { sessionToken: value(AWS_SESSION_TOKEN) }),
      }
      return createAmazonBedrock({
        region,
        apiKey,
        ...(baseURL && { baseURL }),
        credentialProvider: async () => credentials,
        fetch: bedrockFetch(apiKey ? null : { ...credentials, region }, streamingFetch),
      })(model)
    }
  }
}
