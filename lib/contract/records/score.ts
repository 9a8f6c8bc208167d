import * as z from 'zod'
import { toScoreFigures } from '../../core/score-statistics.ts'
import type { UsageKey, UsageTotals } from '../../core/usage.ts'
import { nullableNumber, schema } from './fields.ts'
import { toIntervalTime } from './usage.ts'

/** What a scorer has said in an interval about the runs of a version. */
export const scoreRowRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      start: z.iso.datetime().describe('When the interval begins, in UTC.'),
      agentId: z.uuid().describe('The agent whose runs were scored.'),
      versionId: z.uuid(),
      scorer: z.string().describe('The slug of the agent that has scored them.'),
      runs: z.int().describe('Runs with a score. They count when their scorer has ended.'),
      mean: nullableNumber.describe('The mean of their scores. Null without any.'),
      deviation: nullableNumber.describe('The standard deviation of their scores. Null below two.'),
      low: z.int().describe('Those whose score is below the minimum of the scorer.'),
      failed: z.int().describe('Runs of the scorer that ended without a score.'),
    })
    .meta({ id: 'ScoreRow' }),
)

export type ScoreRowRecord = z.infer<typeof scoreRowRecord>

export const toScoreRowRecord = ({
  start,
  agentId = '',
  versionId = '',
  scorer,
  scores,
}: Partial<UsageKey> & UsageTotals & { start: number }): ScoreRowRecord => ({
  ...{ start: toIntervalTime(start), agentId, versionId, scorer: scorer ?? '' },
  ...toScoreFigures(scores),
  ...{ low: scores.low, failed: scores.failed },
})

/** How far a scorer agrees with people. */
export const agreementRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      scorer: z.string(),
      runs: z.int().describe('Runs with a score of the scorer and a review.'),
      kappa: nullableNumber.describe(
        "Cohen's kappa: 1 if they always agree, 0 if as often as by chance. Null if all runs are in one cell of the table.",
      ),
      highLiked: z
        .int()
        .describe(
          'The score is at least the minimum of the scorer (0.5 without one), and people liked the output.',
        ),
      highDisliked: z.int().describe('The same, and people disliked or corrected it.'),
      lowLiked: z.int().describe('The score is lower, and people liked the output.'),
      lowDisliked: z.int().describe('The score is lower, and people disliked or corrected it.'),
    })
    .meta({ id: 'Agreement' }),
)

export type AgreementRecord = z.infer<typeof agreementRecord>
