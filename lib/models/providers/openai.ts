import { randomUUID } from 'node:crypto'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import {
  ALL_LEVELS,
  type CallOptions,
  EFFORTS,
  type Level,
  LOW_TO_MAX,
  NONE_TO_MAX,
  type OpenSettings,
  type ProviderTraits,
} from './provider-traits.ts'

/** `forceReasoning`: the SDK omits the effort for models that it does not know. Summaries need a verified account. */
const toOpenaiEffort = (level: Level): CallOptions => ({
  options: { reasoningEffort: level, reasoningSummary: null, forceReasoning: true },
})

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
export const OPENAI_STRICT = {
  keywords: [
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minItems',
    'maxItems',
  ],
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
}

/** Begins a text that stands for a search. Random, so that no model can return it. */
const MARK = `web-search-${randomUUID()} `

/** The package drops searches from the history of requests that OpenAI does not store. */
const toSearchText = (callId: string, result: Json): string =>
  MARK +
  JSON.stringify({ type: 'web_search_call', id: callId, status: 'completed', action: toAction(result) })

const ACTIONS: Record<string, string> = { openPage: 'open_page', findInPage: 'find_in_page' }

/** The action as OpenAI has it, of the result as the package returns it. */
function toAction(result: Json): JsonObject {
  const { action, sources } = isJsonObject(result) ? result : {}
  if (!isJsonObject(action)) return { type: 'search', query: '' }
  const type = String(action.type)
  return { ...action, type: ACTIONS[type] ?? type, ...(sources !== undefined && { sources }) }
}

/** A `fetch` for OpenAI that sends searches in place of the texts that stand for them. */
function withSearches(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const body = init?.body
    if (typeof body !== 'string' || !body.includes(MARK)) return send(input, init)
    const request = JSON.parse(body) as { input: Json[] }
    return send(input, { ...init, body: JSON.stringify({ ...request, input: request.input.map(toItem) }) })
  }
}

function toItem(item: Json): Json {
  if (!isJsonObject(item) || typeof item.content !== 'string' || !item.content.startsWith(MARK)) return item
  return JSON.parse(item.content.slice(MARK.length)) as Json
}

async function loadOpenai({ baseURL, variable, fetch }: OpenSettings) {
  const { createOpenAI } = await import('@ai-sdk/openai')
  const apiKey = variable('OPENAI_API_KEY')
  return createOpenAI({ apiKey, baseURL: baseURL || 'https://api.openai.com/v1', fetch })
}

export const OPENAI = {
  variables: {
    baseUrl: 'OPENAI_BASE_URL',
    required: ['OPENAI_API_KEY'],
    secrets: ['OPENAI_API_KEY'],
    apiKey: 'OPENAI_API_KEY',
  },
  hasColons: false,
  priceSource: 'openai',

  async open(model, settings) {
    const { readResponses } = await import('../frames/response-frames.ts')
    return (await loadOpenai({ ...settings, fetch: readResponses(withSearches(settings.fetch)) }))(model)
  },
  openEmbedding: async (model, settings) => (await loadOpenai(settings)).embeddingModel(model),
  optionsKey: 'openai',
  // With storage, OpenAI keeps the conversation and later requests only reference it.
  options: { store: false },
  reasoning: [
    { models: /^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat)/, levels: ['none'] },
    { models: /^gpt-5-pro/, levels: ['high'], toOptions: toOpenaiEffort },
    { models: /^gpt-5\.\d+-pro/, levels: ['medium', 'high', 'xhigh'], toOptions: toOpenaiEffort },
    { models: /^(o\d|gpt-5(\.1)?-codex(?!-max))/, levels: EFFORTS, toOptions: toOpenaiEffort },
    { models: /^gpt-5\.\d+-codex/, levels: ['low', 'medium', 'high', 'xhigh'], toOptions: toOpenaiEffort },
    { models: /^gpt-5(?!\.)/, levels: ['minimal', 'low', 'medium', 'high'], toOptions: toOpenaiEffort },
    { models: /^gpt-5\.1/, levels: ['none', 'low', 'medium', 'high'], toOptions: toOpenaiEffort },
    {
      models: /^gpt-5\.[2-5]/,
      levels: ['none', 'low', 'medium', 'high', 'xhigh'],
      toOptions: toOpenaiEffort,
    },
    {
      models: /^(gpt-5\.|gpt-6-(sol|luna))/,
      levels: NONE_TO_MAX,
      toOptions: toOpenaiEffort,
    },
    { models: /^gpt-6/, levels: LOW_TO_MAX, toOptions: toOpenaiEffort },
    { models: /./, levels: ALL_LEVELS, toOptions: toOpenaiEffort },
  ],
  models: {
    forcedTool: /./,
    // Since GPT-4o.
    images: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
    inputImages: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
    inputPdfs: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
    strictTools: /./,
    // Since GPT-4o of August 2024.
    structured:
      /^(ft:)?(gpt-4o(?!-2024-05|.*(audio|search|tts|transcribe|realtime))|gpt-4\.1|gpt-[5-9](?!.*chat)|o1(?!-(mini|preview))|o3|o4)(?!.*deep-research)/,
    reasoning: /./,
    temperature: /^(?!o\d|gpt-([6-9]|\d\d)|gpt-5(?!(-chat)))/,
    // https://platform.openai.com/docs/guides/tools-web-search#limitations
    webSearch: /^(gpt-4o(?!-(audio|realtime|transcribe))|gpt-4\.1(?!-nano)|gpt-[5-9]|o3|o4)/,
  },
  webSearch: {
    toTool: ({ maxUses, allowedDomains }) => ({
      id: 'openai.web_search',
      args: allowedDomains ? { filters: { allowedDomains } } : {},
      // Of all tools that OpenAI executes: there is no other one.
      options: { maxToolCalls: maxUses },
    }),
    callPrefix: 'ws_',
    toText: toSearchText,
  },

  strict: OPENAI_STRICT,
  // OpenAI caches by itself, and routes requests with the same key to the same cache.
  cacheKey: 'promptCacheKey',
  isStrictByDefault: true,
  usage: {
    cachedInputTokens: 'input_tokens_details.cached_tokens',
    cacheWriteTokens: 'input_tokens_details.cache_write_tokens',
    reasoningTokens: 'output_tokens_details.reasoning_tokens',
  },
} satisfies ProviderTraits
