import type { Usage } from '../../core/execution.ts'
import type { UsageRecord } from '../schemas/usage-record.ts'

/** The tokens and the cost, which a record has next to each other. */
export function toUsageRecord(usage: Usage): { usage: UsageRecord; costUsd: number | null } {
  const { inputTokens, outputTokens, costUsd = null } = usage
  const { cachedInputTokens = null, cacheWriteTokens = null, reasoningTokens = null } = usage
  return {
    usage: { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens },
    costUsd,
  }
}
