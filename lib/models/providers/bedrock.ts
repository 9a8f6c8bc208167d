import type { JsonObject } from '../../core/json.ts'
import { bedrockFetch, ERROR_MARK } from './bedrock-fetch.ts'
import { ANSWER_TOKENS, claudeFamilies, THINKING_TOKENS } from './claude.ts'
import { type CallOptions, EFFORTS, type ProviderTraits } from './provider-traits.ts'

const REGION = 'AWS_REGION'
const ACCESS_KEY_ID = 'AWS_ACCESS_KEY_ID'
const SECRET_ACCESS_KEY = 'AWS_SECRET_ACCESS_KEY'
const SESSION_TOKEN = 'AWS_SESSION_TOKEN'
/** An Amazon Bedrock API key, used instead of AWS credentials. */
const BEARER_TOKEN = 'AWS_BEARER_TOKEN_BEDROCK'

const withConfig = (reasoningConfig: JsonObject): CallOptions => ({ options: { reasoningConfig } })

/** The SDK ignores `disabled` on Bedrock, so the request field is set directly. */
const DISABLED = { options: { additionalModelRequestFields: { thinking: { type: 'disabled' } } } }

export const bedrock: ProviderTraits = {
  title: 'Amazon Bedrock',
  variables: {
    baseUrl: 'BEDROCK_BASE_URL',
    required: [REGION],
    secrets: [ACCESS_KEY_ID, SECRET_ACCESS_KEY, SESSION_TOKEN, BEARER_TOKEN],
  },
  findProblem(environment) {
    const hasKeys = environment[ACCESS_KEY_ID] && environment[SECRET_ACCESS_KEY]
    if (hasKeys || environment[BEARER_TOKEN]) return undefined
    return `no AWS credentials found. Set ${ACCESS_KEY_ID} and ${SECRET_ACCESS_KEY}, or ${BEARER_TOKEN}.`
  },
  hasColons: true,
  priceSource: 'aws',

  async open(model, { baseURL, variable, fetch }) {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
    const region = variable(REGION)
    const apiKey = variable(BEARER_TOKEN)
    const sessionToken = variable(SESSION_TOKEN)
    const credentials = {
      accessKeyId: variable(ACCESS_KEY_ID),
      secretAccessKey: variable(SECRET_ACCESS_KEY),
      ...(sessionToken && { sessionToken }),
    }
    return createAmazonBedrock({
      region,
      apiKey,
      ...(baseURL && { baseURL }),
      credentialProvider: async () => credentials,
      fetch: bedrockFetch(apiKey ? null : { ...credentials, region }, fetch),
    })(model)
  },
  optionsKey: 'amazonBedrock',
  reasoning: [
    ...claudeFamilies(
      (level) =>
        level === 'none'
          ? {}
          : {
              ...withConfig({ type: 'enabled', budgetTokens: THINKING_TOKENS[level] }),
              maxOutputTokens: ANSWER_TOKENS,
            },
      (level) => (level === 'none' ? DISABLED : withConfig({ type: 'adaptive', maxReasoningEffort: level })),
    ),
    {
      models: /amazon\.nova-2-/,
      levels: ['none', ...EFFORTS],
      toOptions: (level) =>
        level === 'none' ? {} : withConfig({ type: 'enabled', maxReasoningEffort: level }),
    },
    {
      models: /openai\./,
      levels: EFFORTS,
      toOptions: (level) => withConfig({ maxReasoningEffort: level }),
    },
    {
      models: /amazon\.(titan|nova-(micro|lite|pro|premier))|meta\.llama3|cohere\.|ai21\./,
      levels: ['none'],
    },
  ],
  models: {
    // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_SpecificToolChoice.html
    forcedTool: /claude-|amazon\.nova-/,
    images: /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)/,
    // Bedrock rejects them for other models.
    // https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    cachePoints: /claude-(3-7|3-5-(haiku|sonnet-20241022)|[a-z]+-\d)|amazon\.nova-(?!sonic)/,
    strictTools: /claude-(sonnet|opus)-4-[56](?!\d)/,
    reasoning: /./,
  },

  cachePoint: { cachePoint: { type: 'default' } },
  errorMark: ERROR_MARK,
  // The SDK asks Anthropic for `eager_input_streaming`, which Bedrock does not have.
  stream: { endsWithUsage: true, buffersInputs: true },
  usage: { cachedInputTokens: 'cacheReadInputTokens', cacheWriteTokens: 'cacheWriteInputTokens' },
  stopReasons: { model_context_window_exceeded: 'context-window' },
}
