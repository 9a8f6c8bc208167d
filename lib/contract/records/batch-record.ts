import * as z from 'zod'

const executionError = z.looseObject({ code: z.string(), message: z.string() }).nullable()

export const batchRecord = z
  .object({
    id: z.uuid(),
    documentId: z.uuid().describe('The agent that runs.'),
    versionId: z.uuid().describe('The version that all lines run, fixed when the batch was accepted.'),
    tenantId: z.string().nullable(),
    tokenId: z.uuid().nullable().describe('The token that started the batch.'),
    status: z
      .enum(['IN_PROGRESS', 'CANCELLING', 'ENDED'])
      .describe('CANCELLING: the batch was cancelled, and the executions that were open are being ended.'),
    lines: z.int().describe('The number of inputs.'),
    counts: z
      .object({ IN_PROGRESS: z.int(), SUCCESS: z.int(), ERROR: z.int() })
      .describe('Lines by the status of their result. They add up to `lines`.'),
    cancelled: z.int().describe('Those of the lines in ERROR that were cancelled.'),
    waiting: z.int().describe('How many of the lines in IN_PROGRESS are suspended, and have no worker.'),
    waitingFor: z
      .array(
        z.object({
          kind: z.enum(['approval', 'signal', 'sleep', 'limit']),
          name: z.string(),
          lines: z.int(),
        }),
      )
      .describe(
        'What they wait for, as `waitingFor` of their executions says, and how many of them. At most 20.',
      ),
    costUsd: z
      .number()
      .describe(
        'The price in US dollars of the lines that have ended or wait, with the agents that they called as tools. Models without a price count as 0.',
      ),
    maxBatchCostUsd: z.number().nullable(),
    maxConcurrency: z.int().describe('How many lines are in progress at the same time: at most `lines`.'),
    enforceInputSchema: z.boolean().nullable(),
    useCache: z.boolean().nullable(),
    useDynamicLearning: z.boolean().nullable(),
    model: z.string().nullable(),
    maxAgentSteps: z.int().nullable(),
    maxTokens: z.int().nullable(),
    maxCostUsd: z.number().nullable().describe('Of each line.'),
    retryOf: z.uuid().nullable().describe('The batch whose failed lines it repeats.'),
    error: executionError.describe(
      'Why lines that had not started were not started any more: Cancelled, BudgetExceeded or DeadlineExceeded. Null otherwise.',
    ),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Batch' })

/** For tokens that may change a batch, but not read it. */
const batchStateRecord = batchRecord.pick({ id: true, status: true }).meta({ id: 'BatchState' })

export const changedBatchRecord = z.union([batchRecord, batchStateRecord])

export const batchCheckRecord = z
  .object({ lines: z.int().describe('The number of inputs.'), valid: z.literal(true) })
  .meta({ id: 'BatchCheck' })

export const batchResultRecord = z
  .object({
    customId: z.string(),
    executionId: z
      .uuid()
      .nullable()
      .describe('Null if the line has no execution: it has not started, was not started or was deleted.'),
    status: z.enum(['IN_PROGRESS', 'SUCCESS', 'ERROR']),
    output: z.record(z.string(), z.unknown()).nullable(),
    error: executionError.describe('Null unless status is ERROR.'),
  })
  .meta({ id: 'BatchResult' })

export type BatchRecord = z.infer<typeof batchRecord>
export type BatchStateRecord = z.infer<typeof batchStateRecord>
