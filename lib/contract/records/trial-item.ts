import * as z from 'zod'
import type { TrialItem } from '../../core/batch.ts'
import { usageOfTree } from '../../core/model-usage.ts'
import { judgementOf, VERDICTS } from '../../core/trial.ts'
import { runTimeOf } from '../../core/usage.ts'
import { batchRecord } from './batch.ts'
import { nullableNumber, optionalId, schema } from './fields.ts'

const side = (of: string) => z.unknown().optional().describe(`Absent if ${of} has no such value.`)

export const trialItemRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      originalExecutionId: z.uuid(),
      executionId: z
        .uuid()
        .nullable()
        .describe('Null if it has not begun, was not started any more or was deleted.'),
      status: z.enum(['IN_PROGRESS', 'SUCCESS', 'ERROR']),
      verdict: z.enum(VERDICTS).nullable().describe('Null unless its execution has ended.'),
      differences: z
        .array(
          z.object({
            path: z.string().describe('JSON Pointer (RFC 6901) into the output.'),
            original: side('the original'),
            trial: side('the trial'),
          }),
        )
        .describe('At most 20. Long values are cut.'),
      moreDifferences: z.boolean().describe('There are more than these.'),
      scores: z
        .array(
          z.object({
            agent: z.string().describe('The slug of the scorer.'),
            original: nullableNumber,
            trial: nullableNumber,
            originalScoreId: optionalId.describe('The run of the scorer.'),
            trialScoreId: optionalId.describe('That of the original if the scorer receives the same.'),
            error: z
              .object({ code: z.string(), message: z.string() })
              .optional()
              .describe('Why a score is missing.'),
          }),
        )
        .optional()
        .describe('Absent unless the outputs of both executions were scored.'),
      error: batchRecord.shape.error.describe('Why it failed, or why it was not started.'),
      costUsd: z.number().nullable().describe('Null without a model response that has a price.'),
      replayedCostUsd: z
        .number()
        .nullable()
        .describe('What responses that it took from the recording had cost. Null without any.'),
      runTimeMs: z.int().nullable().describe('Null unless its execution has ended.'),
      steps: z.int().nullable(),
    })
    .meta({ id: 'TrialItem' }),
)

export type TrialItemRecord = z.infer<typeof trialItemRecord>

export function toTrialItemRecord({
  originalExecutionId,
  execution,
  verdict,
  error,
}: TrialItem): TrialItemRecord {
  const judgement = verdict && execution ? judgementOf(execution) : null
  return {
    originalExecutionId,
    executionId: execution?.id ?? null,
    status: execution?.status ?? (error ? 'ERROR' : 'IN_PROGRESS'),
    verdict,
    differences: judgement?.differences ?? [],
    moreDifferences: judgement?.isCut ?? false,
    ...(judgement?.scores && { scores: judgement.scores }),
    error,
    costUsd: (execution && usageOfTree(execution)?.costUsd) ?? null,
    replayedCostUsd: execution?.replayedUsage?.costUsd ?? null,
    runTimeMs: execution?.finishedAt ? runTimeOf(execution) : null,
    steps: execution?.steps ?? null,
  }
}
