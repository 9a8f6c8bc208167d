import * as z from 'zod'

const nullableText = z.string().nullable().optional()
const groupedBy = (what: string) => `Present if grouped by ${what}.`

/** The runs of an interval, or of a group of them: those that ended in it. */
export const usageRowRecord = z
  .object({
    start: z.iso.datetime().describe('When the interval begins, in UTC.'),
    tenantId: nullableText.describe(`${groupedBy('tenant')} Null: runs without a tenant.`),
    agentId: z.uuid().optional().describe(groupedBy('agent')),
    versionId: z.uuid().optional().describe(groupedBy('version')),
    model: nullableText.describe(
      `${groupedBy('model')} Null: code agents, cache hits, and runs that ended before a response.`,
    ),
    tokenId: z
      .uuid()
      .nullable()
      .optional()
      .describe(`${groupedBy('token')} Null: runs that no token started, as of schedules in a document.`),
    runs: z.int().describe('Executions that ended, with those that agents started as tools.'),
    cacheHits: z.int().describe('Those that reused the result of an earlier one.'),
    errors: z.record(z.string(), z.int()).describe('Those that ended in ERROR, by error code.'),
    inputTokens: z.int().describe('Includes the cached and the cache write tokens.'),
    outputTokens: z.int().describe('Includes the reasoning tokens.'),
    cachedInputTokens: z.int(),
    cacheWriteTokens: z.int(),
    reasoningTokens: z.int(),
    webSearches: z.int(),
    costUsd: z
      .number()
      .describe('The price of their model responses in US dollars, without those of agents called as tools.'),
    childCostUsd: z
      .number()
      .describe('The price of the agents that they called as tools, which is also the `costUsd` of those.'),
    unpricedRuns: z.int().describe('Runs whose model has no price: `costUsd` lacks them.'),
    runTimeMs: z
      .int()
      .describe('From the first start to the end, without the time that runs were suspended.'),
  })
  .meta({ id: 'UsageRow' })

export type UsageRowRecord = z.infer<typeof usageRowRecord>
