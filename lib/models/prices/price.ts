import { roundDollars, type Usage } from '../../core/execution.ts'

/** US dollars per million tokens. Without its own rate, a cached token costs as much as any other input token. */
export type Rates = {
  input: number
  output: number
  /** Input tokens read from the provider's prompt cache. */
  cachedInput?: number
  /** Input tokens written to the provider's prompt cache. */
  cacheWrite?: number
}

/** `above`: the rates of all tokens of a response whose input has more than `tokens` tokens. */
export type Price = Rates & { above?: Rates & { tokens: number } }

const MILLION = 1_000_000

/** The price of one model response in US dollars. `inputTokens` includes the tokens read from and written to the cache. */
export function costOf({ above, ...base }: Price, usage: Omit<Usage, 'costUsd'>): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const {
    input,
    output,
    cachedInput = input,
    cacheWrite = input,
  } = above && inputTokens > above.tokens ? above : base
  const plainTokens = Math.max(inputTokens - cachedInputTokens - cacheWriteTokens, 0)
  const dollars =
    (plainTokens * input +
      cachedInputTokens * cachedInput +
      cacheWriteTokens * cacheWrite +
      outputTokens * output) /
    MILLION
  return roundDollars(dollars)
}
