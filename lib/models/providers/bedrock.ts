import { randomUUID } from 'node:crypto'
import type { AwsV4Signer } from 'aws4fetch'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { Environment } from '../../environment.ts'
import {
  CLAUDE,
  CLAUDE_ALWAYS_THINKING,
  CLAUDE_OUTPUT_LIMITS,
  CLAUDE_STRICT,
  CLAUDE_WITH_BUDGET,
  CLAUDE_WITHOUT_THINKING,
  CLAUDE_WITHOUT_XHIGH,
  toBedrockBudget,
  toBedrockEffort,
} from './anthropic.ts'
import {
  BUDGET_LEVELS,
  type CallOptions,
  EFFORTS,
  type Level,
  LOW_TO_MAX,
  NONE_TO_MAX,
  type OpenSettings,
  type ProviderTraits,
} from './provider-traits.ts'

const REGION = 'AWS_REGION'
const ACCESS_KEY_ID = 'AWS_ACCESS_KEY_ID'
const SECRET_ACCESS_KEY = 'AWS_SECRET_ACCESS_KEY'
const SESSION_TOKEN = 'AWS_SESSION_TOKEN'
/** An Amazon Bedrock API key, used instead of AWS credentials. */
const BEARER_TOKEN = 'AWS_BEARER_TOKEN_BEDROCK'

/** Begins the text of a failed tool result, which gets a status in its place. Random, so that no tool can return it. */
const ERROR_MARK = `error-${randomUUID()} `

const toBedrockOpenaiEffort = (level: Level): CallOptions => ({
  options: { reasoningConfig: { maxReasoningEffort: level } },
})

export const BEDROCK = {
  variables: {
    baseUrl: 'BEDROCK_BASE_URL',
    required: [REGION],
    secrets: [ACCESS_KEY_ID, SECRET_ACCESS_KEY, SESSION_TOKEN, BEARER_TOKEN],
  },
  findProblem: findCredentialsProblem,
  hasColons: true,
  priceSource: 'aws',

  open: openBedrock,
  openEmbedding: async (model, settings) => (await loadBedrock(settings)).embeddingModel(model),
  optionsKey: 'amazonBedrock',
  reasoning: [
    { models: CLAUDE_WITHOUT_THINKING, levels: ['none'] },
    { models: CLAUDE_WITH_BUDGET, levels: BUDGET_LEVELS, toOptions: toBedrockBudget },
    { models: CLAUDE_ALWAYS_THINKING, levels: LOW_TO_MAX, toOptions: toBedrockEffort },
    {
      models: CLAUDE_WITHOUT_XHIGH,
      levels: ['none', 'low', 'medium', 'high', 'max'],
      toOptions: toBedrockEffort,
    },
    { models: CLAUDE, levels: NONE_TO_MAX, toOptions: toBedrockEffort },
    {
      models: /amazon\.nova-2-/,
      levels: ['none', 'low', 'medium', 'high'],
      toOptions: (level) =>
        level === 'none'
          ? {}
          : { options: { reasoningConfig: { type: 'enabled', maxReasoningEffort: level } } },
    },
    { models: /openai\.gpt-oss/, levels: EFFORTS, toOptions: toBedrockOpenaiEffort },
    {
      models: /openai\.gpt-5\.[2-5]/,
      levels: ['low', 'medium', 'high', 'xhigh'],
      toOptions: toBedrockOpenaiEffort,
    },
    { models: /openai\./, levels: LOW_TO_MAX, toOptions: toBedrockOpenaiEffort },
    {
      models: /amazon\.(titan|nova-(micro|lite|pro|premier))|meta\.llama3|cohere\.|ai21\./,
      levels: ['none'],
    },
  ],
  outputLimits: CLAUDE_OUTPUT_LIMITS,
  models: {
    // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_SpecificToolChoice.html
    forcedTool: /claude-(?!(sonnet|opus)-5-5|fable-5-1)|amazon\.nova-/,
    images: /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)/,
    // https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
    inputImages:
      /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)|llama3-2-(11|90)b|llama4|pixtral/,
    inputPdfs: /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)/,
    // Bedrock rejects them for other models.
    // https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    cachePoints: /claude-(3-7|3-5-(haiku|sonnet-20241022)|[a-z]+-\d)|amazon\.nova-(?!sonic)/,
    strictTools: /claude-(sonnet|opus)-4-[56](?!\d)/,
    // The package says that other Claude models do not always keep to the schema.
    structured: /claude-(sonnet-4-5|opus-4-[56])(?!\d)/,
    reasoning: /./,
    temperature:
      /claude-(3-haiku|(opus|sonnet|haiku)-4(-[0-6]|-20\d{6}|@|$))(?!\d)|^(?!.*(claude-|openai\.(?!gpt-oss)))/,
  },

  strict: CLAUDE_STRICT,
  cachePoint: { cachePoint: { type: 'default' } },
  errorMark: ERROR_MARK,
  // The SDK asks Anthropic for `eager_input_streaming`, which Bedrock does not have.
  stream: { buffersInputs: true },
  usage: { cachedInputTokens: 'cacheReadInputTokens', cacheWriteTokens: 'cacheWriteInputTokens' },
  stopReasons: { model_context_window_exceeded: 'context-window' },
} satisfies ProviderTraits

type Credentials = Omit<ConstructorParameters<typeof AwsV4Signer>[0], 'url'>

function findCredentialsProblem(environment: Environment): string | undefined {
  const hasKeys = environment[ACCESS_KEY_ID] && environment[SECRET_ACCESS_KEY]
  if (hasKeys || environment[BEARER_TOKEN]) return undefined
  return `no AWS credentials found. Set ${ACCESS_KEY_ID} and ${SECRET_ACCESS_KEY}, or ${BEARER_TOKEN}.`
}

/** The package of the provider. Failed tool results get the status `error`. */
async function loadBedrock({ baseURL, variable, fetch }: OpenSettings) {
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
  })
}

/**
 * The ARN of an application's own inference profile does not say which model it has: the id of the model may follow, as
 * in `{arn}#{id}`, for prices and capabilities.
 */
async function openBedrock(model: string, settings: OpenSettings) {
  const [id = '', base = ''] = model.split('#')
  const { readConverse } = await import('../frames/converse-frames.ts')
  const fetch = readConverse(settings.fetch)
  return (await loadBedrock({ ...settings, fetch }))(
    id,
    CLAUDE.test(base) ? { modelFamily: 'anthropic' } : {},
  )
}

/**
 * A `fetch` for Amazon Bedrock that gives marked tool results the status `error`, which the AI SDK does not send. The
 * body changes after the SDK has signed it, so it is signed again; `credentials` is null for an API key, which signs
 * nothing.
 */
function bedrockFetch(credentials: Credentials | null, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const body = init?.body
    if (typeof body !== 'string' || !body.includes(ERROR_MARK)) return send(input, init)
    const marked = JSON.stringify(withStatus(JSON.parse(body)))
    const headers = new Headers(init?.headers)
    if (!credentials) return send(input, { ...init, headers, body: marked })
    const { AwsV4Signer } = await import('aws4fetch')
    const request = { url: String(input), method: 'POST', headers, body: marked }
    const signer = new AwsV4Signer({ ...credentials, ...request, service: 'bedrock' })
    const signed = await signer.sign()
    return send(input, { ...init, headers: signed.headers, body: marked })
  }
}

function withStatus(body: JsonObject): JsonObject {
  const messages = toList(body.messages).map((message) =>
    isJsonObject(message) ? { ...message, content: toList(message.content).map(markResult) } : message,
  )
  return { ...body, messages }
}

function markResult(block: Json): Json {
  if (!isJsonObject(block) || !isJsonObject(block.toolResult)) return block
  const content = toList(block.toolResult.content)
  const [first] = content
  if (!isJsonObject(first) || typeof first.text !== 'string' || !first.text.startsWith(ERROR_MARK))
    return block
  const text = first.text.slice(ERROR_MARK.length)
  const toolResult = {
    ...block.toolResult,
    content: [{ ...first, text }, ...content.slice(1)],
    status: 'error',
  }
  return { ...block, toolResult }
}

const toList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
