import { createHash } from 'node:crypto'
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { FINAL_ANSWER } from '../../core/model.ts'
import type { ModelName } from '../model-name.ts'
import { supports } from '../providers/model-traits.ts'
import { traitsOf } from '../providers/providers.ts'

/**
 * Characters of the instructions and the input from which a run without tools is cached, about 4,000 tokens: no
 * provider caches less than 1,024, and some of Anthropic's models 4,096. With tools, each step sends the steps before
 * it again.
 */
export const MIN_CACHED_CHARACTERS = 16_000

/** OpenAI's limit is 64 characters. */
const KEY_CHARACTERS = 32

type Options = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'providerOptions'>

/**
 * Asks the provider to cache the beginning of a prompt: everything before a mark (the system prompt with the tools, and
 * the history), or the common beginning of requests with the same key. Other servers cache without being asked.
 */
export function withPromptCaching<Given extends Options>(options: Given, name: ModelName): Given {
  if (!isWorthCaching(options)) return options
  const { optionsKey, cacheKey, cachePoint } = traitsOf(name.provider)
  if (cacheKey) {
    const given = options.providerOptions?.[optionsKey]
    const keyed = { ...given, [cacheKey]: toCacheKey(options.prompt) }
    return { ...options, providerOptions: { ...options.providerOptions, [optionsKey]: keyed } }
  }
  if (!cachePoint || !supports(name, 'cachePoints')) return options
  return { ...options, prompt: withMarks(options.prompt, { [optionsKey]: cachePoint }) }
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

/**
 * The same for all runs of a version: they have the beginning of their prompts in common, the instructions. The hash
 * contains nothing of the input.
 */
function toCacheKey([first]: LanguageModelV4Message[]): string {
  const instructions = first?.role === 'system' ? first.content : ''
  return createHash('sha256').update(instructions).digest('hex').slice(0, KEY_CHARACTERS)
}

/**
 * Marks the system prompt and the last message, which the next request reads from the cache, and the last message of
 * the request before: Anthropic finds an earlier mark only within 20 blocks. Three of the four marks that are allowed.
 */
function withMarks(
  prompt: LanguageModelV4Message[],
  mark: SharedV4ProviderOptions,
): LanguageModelV4Message[] {
  const isInput = ({ role }: LanguageModelV4Message) => role === 'user' || role === 'tool'
  const last = prompt.findLastIndex(isInput)
  const lastReply = prompt.findLastIndex(({ role }) => role === 'assistant')
  const previous = prompt.findLastIndex((message, index) => index < lastReply && isInput(message))
  return prompt.map((message, index) => {
    const isMarked = message.role === 'system' || index === last || index === previous
    return isMarked ? { ...message, providerOptions: { ...message.providerOptions, ...mark } } : message
  })
}
