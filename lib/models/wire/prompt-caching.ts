import { createHash } from 'node:crypto'
import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import { FINAL_ANSWER } from '../../core/model.ts'
import type { ModelName } from '../model-name.ts'
import { acceptsCachePoints } from '../providers/capabilities.ts'

/**
 * Characters of the instructions and the input from which a run without tools is cached, about 4,000 tokens: no provider caches
 * less than 1,024, and some of Anthropic's models 4,096. With tools, each step sends the steps before it again.
 */
export const MIN_CACHED_CHARACTERS = 16_000

/** OpenAI's limit is 64 characters. */
const KEY_CHARACTERS = 32

type Options = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'providerOptions'>

/**
 * Asks the provider to cache the beginning of a prompt. Anthropic and Bedrock cache what lies before a mark: the system prompt
 * with the tools, and the history. OpenAI caches by itself, and routes requests with the same key to the same cache. Other
 * servers need no request.
 */
export function withPromptCaching<Given extends Options>(options: Given, name: ModelName): Given {
  if (!isWorthCaching(options)) return options
  if (name.provider === 'openai') {
    const { openai } = options.providerOptions ?? {}
    const promptCacheKey = toCacheKey(options.prompt)
    return {
      ...options,
      providerOptions: { ...options.providerOptions, openai: { ...openai, promptCacheKey } },
    }
  }
  return acceptsCachePoints(name) ? { ...options, prompt: withMarks(options.prompt, name) } : options
}

function isWorthCaching({ prompt, tools = [] }: Options): boolean {
  if (tools.some((tool) => tool.name !== FINAL_ANSWER)) return true
  const lengths = beginningOf(prompt).map((text) => text.length)
  return lengths.reduce((sum, length) => sum + length, 0) >= MIN_CACHED_CHARACTERS
}

/** The system prompt and the first user message. */
function beginningOf(prompt: LanguageModelV4Message[]): string[] {
  const user = prompt.find(({ role }) => role === 'user')
  const texts =
    user?.role === 'user' ? user.content.map((part) => (part.type === 'text' ? part.text : '')) : []
  const [first] = prompt
  return first?.role === 'system' ? [first.content, ...texts] : texts
}

/** The same for all requests of a run, also after a crash, and different for others, so that they are spread over servers. */
const toCacheKey = (prompt: LanguageModelV4Message[]): string =>
  createHash('sha256').update(beginningOf(prompt).join('\0')).digest('hex').slice(0, KEY_CHARACTERS)

/**
 * Marks the system prompt and the last message, which the next request reads from the cache, and the last message of the
 * request before: Anthropic finds an earlier mark only within 20 blocks. Three of the four marks that are allowed.
 */
function withMarks(prompt: LanguageModelV4Message[], name: ModelName): LanguageModelV4Message[] {
  const isInput = ({ role }: LanguageModelV4Message) => role === 'user' || role === 'tool'
  const last = prompt.findLastIndex(isInput)
  const lastReply = prompt.findLastIndex(({ role }) => role === 'assistant')
  const previous = prompt.findLastIndex((message, index) => index < lastReply && isInput(message))
  const mark =
    name.provider === 'anthropic'
      ? { anthropic: { cacheControl: { type: 'ephemeral' } } }
      : { amazonBedrock: { cachePoint: { type: 'default' } } }
  return prompt.map((message, index) => {
    const isMarked = message.role === 'system' || index === last || index === previous
    return isMarked ? { ...message, providerOptions: { ...message.providerOptions, ...mark } } : message
  })
}
