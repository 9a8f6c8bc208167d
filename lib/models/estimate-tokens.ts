import { isJsonObject, type Json } from '../core/json/json.ts'
import type { ModelRequest, ToolDeclaration } from '../core/model.ts'

/** Kinds of characters, in the order of `RUN`. */
const [SPACE, LOWER, UPPER, DIGIT, MARK, OTHER] = [0, 1, 2, 3, 4, 5]
/** Characters of a kind in a row that are one token. */
const RUN = [12, 7, 3, 3, 2]
/** Tokens of a character beyond ASCII: alphabets, and the scripts of East Asia. */
const [ALPHABETIC, IDEOGRAPHIC] = [0.5, 0.9]

/**
 * An estimate of the tokens of a text, without a tokenizer: each provider has its own, and none is small. Compared with
 * OpenAI's `o200k_base`, it is 0.8 to 1.2 times as high for prose, code, JSON, CSV, UUIDs, hexadecimal and base64 text,
 * and up to 1.7 times for other scripts.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  let previous = SPACE
  let run = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const kind = kindOf(code)
    if (kind === OTHER) tokens += code < 0x3000 ? ALPHABETIC : IDEOGRAPHIC
    else if (kind !== previous) {
      // A space belongs to the word after it, and a capital to its word.
      const isFree = kind === SPACE || (kind === LOWER && previous === UPPER && run === 1)
      if (!isFree) tokens++
      run = 1
    } else if (++run > (RUN[kind] ?? 1)) {
      tokens++
      run = 1
    }
    previous = kind
  }
  return Math.ceil(tokens)
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER
  if (code >= 65 && code <= 90) return UPPER
  if (code >= 48 && code <= 57) return DIGIT
  if (code <= 32) return SPACE
  return code < 128 ? MARK : OTHER
}

/** Tokens of an image: the most that Claude counts for one. */
const IMAGE_TOKENS = 1_600
/** Base64 characters for each token of another file: a page of a PDF has about 100 kB and 2,500 tokens. */
const FILE_CHARACTERS = 50

const estimates = new WeakMap<object, number>()

/**
 * An estimate of the input tokens of a request. Each message and tool is read once, however many requests
 * contain it.
 */
export function estimateInputTokens({
  instructions,
  messages,
  tools,
}: Pick<ModelRequest, 'instructions' | 'messages' | 'tools'>): number {
  const parts = [estimateTokens(instructions), ...messages.map(estimateMessage), ...tools.map(estimateTool)]
  return parts.reduce((sum, tokens) => sum + tokens, 0)
}

const estimateTool = (tool: ToolDeclaration): number => once(tool, () => estimateTokens(JSON.stringify(tool)))

/** Of one message of the history, which does not change. */
export const estimateMessage = (message: Json): number =>
  typeof message === 'object' && message !== null
    ? once(message, () => estimateValue(message))
    : estimateValue(message)

function once(value: object, estimate: () => number): number {
  const tokens = estimates.get(value) ?? estimate()
  estimates.set(value, tokens)
  return tokens
}

function estimateValue(value: Json): number {
  if (typeof value === 'string') return estimateTokens(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + estimateValue(item), 0)
  if (!isJsonObject(value)) return estimateTokens(String(value))
  if (value.type === 'file') return estimateFile(value)
  let tokens = 0
  for (const [key, member] of Object.entries(value)) {
    // Signatures and encrypted reasoning: nobody knows how many tokens they are.
    if (key !== 'providerOptions' && member !== undefined) tokens += 1 + estimateValue(member)
  }
  return tokens
}

function estimateFile({ mediaType, data }: { [key: string]: Json }): number {
  if (String(mediaType).startsWith('image/')) return IMAGE_TOKENS
  return Math.ceil(JSON.stringify(data ?? '').length / FILE_CHARACTERS)
}

/** Tokens of a context window, input and output together, by the name of a model. The first matching row applies. */
const WINDOWS: [models: RegExp, tokens: number][] = [
  [/claude-(opus-(4-[6-9]|[5-9])|sonnet-(4-[6-9]|[5-9])|fable)/, 1_000_000],
  [/claude-|^anthropic\//, 200_000],
  [/amazon\.nova-micro/, 128_000],
  [/amazon\.nova-(lite|pro)/, 300_000],
  [/amazon\.nova-|llama-?4-|gemini-/, 1_000_000],
  [/gpt-5(\.\d)?-chat|gpt-5\.3(?!-codex)|chatgpt-/, 128_000],
  [/gpt-(5\.[4-9]|[6-9])(?!\S*(mini|nano))|gpt-4\.1/, 1_000_000],
  [/gpt-5/, 400_000],
  [/gpt-4(o|-turbo|-vision|\.5)|gpt-oss|o1-(mini|preview)/, 128_000],
  [/gpt-4-32k/, 32_000],
  [/gpt-4/, 8_000],
  [/gpt-3\.5/, 16_000],
  [/\/(ft:)?o\d|codex-mini/, 200_000],
  [/llama-?3-/, 8_000],
  [/mi(s|x)tral-(7b|8x7b|large-2402|small-2402)/, 32_000],
]

/** Of other models. Servers of open models have what they were started with, which may be less. */
const DEFAULT_WINDOW = 128_000

/** @param name provider and model, as in an agent's document */
export const contextWindowOf = (name: string): number =>
  WINDOWS.find(([models]) => models.test(name))?.[1] ?? DEFAULT_WINDOW
