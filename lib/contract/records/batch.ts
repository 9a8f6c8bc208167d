import * as z from 'zod'
import { type Batch, type CountedBatch, type LaneTotals, NO_TOTALS, waitingIn } from '../../core/batch.ts'
import { schema } from './fields.ts'

const executionError = /* @__PURE__ */ schema(() =>
  z.looseObject({ code: z.string(), message: z.string() }).nullable(),
)

export const batchRecord = /* @__PURE__ */ schema(() =>
  z
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
            kind: z.enum(['approval', 'signal', 'sleep', 'retry', 'limit']),
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
    .meta({ id: 'Batch' }),
)

/** For tokens that may change a batch, but not read it. */
const batchStateRecord = /* @__PURE__ */ schema(() =>
  batchRecord.pick({ id: true, status: true }).meta({ id: 'BatchState' }),
)

export const changedBatchRecord = /* @__PURE__ */ schema(() => z.union([batchRecord, batchStateRecord]))

export const batchCheckRecord = /* @__PURE__ */ schema(() =>
  z
    .object({ lines: z.int().describe('The number of inputs.'), valid: z.literal(true) })
    .meta({ id: 'BatchCheck' }),
)

export const batchResultRecord = /* @__PURE__ */ schema(() =>
  z
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
    .meta({ id: 'BatchResult' }),
)

export type BatchRecord = z.infer<typeof batchRecord>
export type BatchStateRecord = z.infer<typeof batchStateRecord>

/** @param counted of the lines so far; a batch that has ended says it itself */
export function toBatchRecord(
  batch: Batch,
  { totals, waiting, waitingFor }: Omit<CountedBatch, 'batch'> = {
    totals: batch.totals ?? NO_TOTALS,
    ...waitingIn([]),
  },
): BatchRecord {
  const { options } = batch
  return {
    id: batch.id,
    documentId: batch.agentId,
    versionId: batch.versionId,
    tenantId: batch.tenantId,
    tokenId: batch.tokenId,
    status: batch.status,
    lines: batch.lines,
    ...toCounts(batch, totals),
    waiting,
    waitingFor,
    costUsd: totals.costUsd,
    maxBatchCostUsd: batch.maxCostUsd,
    maxConcurrency: batch.lanes,
    enforceInputSchema: options.enforceInputSchema ?? null,
    useCache: options.useCache ?? null,
    useDynamicLearning: options.useDynamicLearning ?? null,
    model: options.model ?? null,
    maxAgentSteps: options.maxAgentSteps ?? null,
    maxTokens: options.maxTokens ?? null,
    maxCostUsd: options.maxCostUsd ?? null,
    retryOf: batch.retryOf,
    error: batch.stopped,
    createdAt: batch.createdAt,
    endedAt: batch.endedAt,
  }
}

/** In a batch that has ended, lines that were never started are errors with the reason why it was stopped. */
export function toCounts({ status, lines, stopped }: Batch, { succeeded, failed, cancelled }: LaneTotals) {
  const open = lines - succeeded - failed - cancelled
  const hasEnded = status === 'ENDED'
  return {
    counts: {
      IN_PROGRESS: hasEnded ? 0 : open,
      SUCCESS: succeeded,
      ERROR: failed + cancelled + (hasEnded ? open : 0),
    },
    cancelled: cancelled + (hasEnded && stopped?.code === 'Cancelled' ? open : 0),
  }
}
