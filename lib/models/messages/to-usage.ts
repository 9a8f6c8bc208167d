import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '../../core/execution.ts'
import { isJsonObject } from '../../core/json.ts'

/** Where the providers report a count. The SDK returns 0 for most counts that a provider does not report. */
const REPORTED_AT = {
  cachedInputTokens: [
    ['cache_read_input_tokens'],
    ['cacheReadInputTokens'],
    ['input_tokens_details', 'cached_tokens'],
    ['prompt_tokens_details', 'cached_tokens'],
  ],
  cacheWriteTokens: [
    ['cache_creation_input_tokens'],
    ['cacheWriteInputTokens'],
    ['input_tokens_details', 'cache_write_tokens'],
  ],
  reasoningTokens: [
    ['output_tokens_details', 'thinking_tokens'],
    ['output_tokens_details', 'reasoning_tokens'],
    ['completion_tokens_details', 'reasoning_tokens'],
  ],
}

/** What a response used, without its cost. Counts that the provider does not report are absent, or 0 where required. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  const reported = Object.entries(REPORTED_AT).flatMap(([name, paths]) => {
    const count = paths.map((path) => valueAt(raw, path)).find((value) => typeof value === 'number')
    return count === undefined ? [] : [[name, toCount(count)]]
  })
  return {
    inputTokens: toCount(inputTokens.total),
    outputTokens: toCount(outputTokens.total),
    ...Object.fromEntries(reported),
  }
}

const valueAt = (value: unknown, path: string[]): unknown =>
  path.reduce((parent, name) => (isJsonObject(parent) ? parent[name] : undefined), value)

const toCount = (tokens: number | undefined): number =>
  Number.isFinite(tokens) ? Math.max(0, Math.trunc(tokens as number)) : 0
