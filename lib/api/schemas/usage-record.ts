import * as z from 'zod'

const reported = z.int().nullable()

export const usageRecord = z
  .object({
    inputTokens: z.int().meta({ description: 'Includes the cached and the cache write tokens.' }),
    outputTokens: z.int().meta({ description: 'Includes the reasoning tokens.' }),
    cachedInputTokens: reported.meta({
      description: "Read from the provider's prompt cache. Null if the provider does not report them.",
    }),
    cacheWriteTokens: reported.meta({
      description: "Written to the provider's prompt cache. Null if the provider does not report them.",
    }),
    reasoningTokens: reported.meta({ description: 'Null if the provider does not report them.' }),
  })
  .meta({ id: 'Usage' })

export type UsageRecord = z.infer<typeof usageRecord>
