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
