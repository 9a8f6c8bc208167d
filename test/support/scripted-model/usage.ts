import type { JsonObject } from '../../../lib/core/json/json.ts'

/** As the service records it: input includes the cache, output the reasoning. Absent counts are not reported. */
export type ScriptedUsage = {
  inputTokens: number
  outputTokens: number
  cachedInputTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
}

/** Anthropic and Bedrock report the tokens that were neither read from the cache nor written to it. */
const plainTokens = ({ inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: ScriptedUsage): number =>
  inputTokens - cachedInputTokens - cacheWriteTokens

/** Removes the counts that are not reported. */
const reported = (counts: Record<string, number | undefined>): JsonObject =>
  JSON.parse(JSON.stringify(counts)) as JsonObject

/** The details of these tokens, if one is reported. */
function details(of: string, counts: Parameters<typeof reported>[0]): JsonObject {
  const found = reported(counts)
  return Object.keys(found).length > 0 ? { [`${of}_tokens_details`]: found } : {}
}

export const toAnthropicUsage = (usage: ScriptedUsage): { start: JsonObject; delta: JsonObject } => ({
  start: {
    input_tokens: plainTokens(usage),
    output_tokens: 1,
    ...reported({
      cache_read_input_tokens: usage.cachedInputTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    }),
  },
  delta: {
    output_tokens: usage.outputTokens,
    ...details('output', { thinking_tokens: usage.reasoningTokens }),
  },
})

export const toBedrockUsage = (usage: ScriptedUsage): JsonObject => ({
  inputTokens: plainTokens(usage),
  outputTokens: usage.outputTokens,
  totalTokens: usage.inputTokens + usage.outputTokens,
  ...reported({
    cacheReadInputTokens: usage.cachedInputTokens,
    cacheWriteInputTokens: usage.cacheWriteTokens,
  }),
})

export const toChatUsage = (usage: ScriptedUsage): JsonObject => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  ...details('prompt', { cached_tokens: usage.cachedInputTokens }),
  ...details('completion', { reasoning_tokens: usage.reasoningTokens }),
})

export const toResponsesUsage = (usage: ScriptedUsage): JsonObject => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  ...details('input', {
    cached_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  }),
  ...details('output', { reasoning_tokens: usage.reasoningTokens }),
})
