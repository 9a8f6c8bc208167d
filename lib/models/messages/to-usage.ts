import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '../../core/execution.ts'
import { isJsonObject } from '../../core/json.ts'
import { PROVIDERS } from '../model-name.ts'
import { traitsOf } from '../providers/providers.ts'

const COUNTS = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

/** Where the counts are, at all providers: a server in front of one may use the format of another one. */
const PATHS = COUNTS.map((count) => ({
  count,
  paths: PROVIDERS.flatMap((provider) => traitsOf(provider).usage[count] ?? []),
}))

/** What a response used, without its cost. Counts that the provider does not report are absent, or 0 where required. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  const reported = PATHS.flatMap(({ count, paths }) => {
    const tokens = paths.map((path) => valueAt(raw, path)).find((value) => typeof value === 'number')
    return tokens === undefined ? [] : [[count, toCount(tokens)]]
  })
  return {
    inputTokens: toCount(inputTokens.total),
    outputTokens: toCount(outputTokens.total),
    ...Object.fromEntries(reported),
  }
}

const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((parent, name) => (isJsonObject(parent) ? parent[name] : undefined), value)

const toCount = (tokens: number | undefined): number =>
  Number.isFinite(tokens) ? Math.max(0, Math.trunc(tokens as number)) : 0
