import * as z from 'zod'
import type { Batch, CountedBatch, LaneTotals } from '../../core/batch.ts'
import {
  REPLAY_SOURCES,
  TRIAL_FEEDBACK,
  type TrialSettings,
  VERDICTS,
  type Verdict,
} from '../../core/trial.ts'
import { batchRecord, toCounts } from './batch.ts'
import { schema } from './fields.ts'

const source = /* @__PURE__ */ schema(() => z.enum(REPLAY_SOURCES))

const verdictCounts = /* @__PURE__ */ schema(() =>
  z
    .object(
      Object.fromEntries(VERDICTS.map((verdict) => [verdict, z.int()])) as Record<
        (typeof VERDICTS)[number],
        z.ZodInt
      >,
    )
    .describe(
      'Executions that have ended, by verdict. SAME: like the original. EQUIVALENT: another output, and each scorer gives it the score of the original, within its tolerance. CHANGED: another output, or another end. CORRECTED: now equals the output that a person has corrected. REGRESSED: equalled it before. DIVERGED: it would need what the original did not record. ERROR: it failed.',
    ),
)

const distribution = /* @__PURE__ */ schema(() => z.object({ median: z.number(), p95: z.number() }))
const compared = /* @__PURE__ */ schema(() => z.object({ original: distribution, trial: distribution }))

const mean = /* @__PURE__ */ schema(() =>
  z
    .object({ mean: z.number(), low: z.number(), high: z.number() })
    .nullable()
    .describe('The mean, and its 95 % interval by the percentile bootstrap. Null without runs.'),
)

const scoreSums = /* @__PURE__ */ schema(() =>
  z.object({
    agent: z.string().describe('The slug of the scorer.'),
    runs: z.int().describe('Executions with a score on both sides, of which the rest is.'),
    unscored: z.int().describe('Executions without.'),
    original: mean,
    trial: mean,
    difference: mean,
    wins: z.int().describe('Executions whose score is higher than that of the original.'),
    losses: z.int().describe('Executions whose score is lower.'),
    ties: z.int().describe('Executions whose score is the same, within the tolerance.'),
  }),
)

const sums = /* @__PURE__ */ schema(() =>
  z
    .object({
      runs: z.int().describe('Lines that have an execution.'),
      compared: z.int().describe('Of these, executions that can be compared with their originals.'),
      verdicts: verdictCounts,
      schemaViolations: z
        .int()
        .describe('Executions whose output or input did not match the schema of the version.'),
      costUsd: compared
        .extend({ originalTotal: z.number(), trialTotal: z.number() })
        .describe('In US dollars, with what responses from recordings had cost.'),
      runTimeMs: compared,
      steps: compared,
      scores: z.array(scoreSums).optional().describe('By scorer. Absent without any.'),
    })
    .describe(
      'Costs, run times and steps compare executions without the verdicts DIVERGED and ERROR with their originals, unless these were deleted. If `compared` is 0, `original` has those of all originals.',
    ),
)

export const trialRecord = /* @__PURE__ */ schema(() =>
  batchRecord
    .pick({
      id: true,
      documentId: true,
      versionId: true,
      tokenId: true,
      status: true,
      counts: true,
      cancelled: true,
      maxConcurrency: true,
      error: true,
      createdAt: true,
      endedAt: true,
    })
    .extend({
      lines: z.int().describe('The number of originals.'),
      costUsd: z
        .number()
        .describe('The price in US dollars of the executions that have ended, with their scores.'),
      maxTrialCostUsd: z.number().nullable(),
      from: z.iso.datetime({ offset: true }).nullable(),
      to: z.iso.datetime({ offset: true }).nullable(),
      tenantId: z.string().nullable().describe('Only originals of this tenant. Null: of all.'),
      feedback: z.enum(TRIAL_FEEDBACK).nullable(),
      selectionCut: z
        .boolean()
        .describe(
          'Fewer executions than asked for: it looked at the newest 5,000 only, and there are older ones.',
        ),
      tools: z.record(z.string(), source).describe('By the name of the tool; `default` for all others.'),
      models: source,
      steps: source,
      ignore: z.array(z.string()),
      scorers: z
        .array(z.object({ agent: z.string(), tolerance: z.number() }))
        .optional()
        .describe('What scores the outputs, and by how much equal scores may differ. Absent without any.'),
      verdicts: verdictCounts,
      sums: sums.nullable().describe('Null until the trial has ended.'),
    })
    .meta({ id: 'Trial' }),
)

/** For tokens that may change a trial, but not read it. */
const trialStateRecord = /* @__PURE__ */ schema(() =>
  trialRecord.pick({ id: true, status: true }).meta({ id: 'TrialState' }),
)

export const changedTrialRecord = /* @__PURE__ */ schema(() => z.union([trialRecord, trialStateRecord]))

export type TrialRecord = z.infer<typeof trialRecord>

/** @param totals of the lines that have ended so far */
export function toTrialRecord({ batch, totals }: CountedBatch): TrialRecord {
  const { from, to, tenantId, feedback, tools, models, steps, ignore, scorers, isCut } =
    batch.trial as TrialSettings
  const verdicts = toVerdicts(batch, totals)
  return {
    id: batch.id,
    documentId: batch.agentId,
    versionId: batch.versionId,
    tokenId: batch.tokenId,
    status: batch.status,
    lines: batch.lines,
    ...toCounts(batch, totals),
    costUsd: totals.costUsd,
    maxTrialCostUsd: batch.maxCostUsd,
    maxConcurrency: batch.lanes,
    from,
    to,
    tenantId,
    feedback,
    selectionCut: isCut ?? false,
    tools,
    models,
    steps,
    ignore,
    ...(scorers && { scorers }),
    verdicts,
    sums: batch.sums && { ...batch.sums, verdicts },
    error: batch.stopped,
    createdAt: batch.createdAt,
    endedAt: batch.endedAt,
  }
}

/** In one order: maps of the database have none. */
function toVerdicts({ sums }: Batch, { verdicts = {} }: LaneTotals): Record<Verdict, number> {
  const counted = sums?.verdicts ?? verdicts
  const counts = VERDICTS.map((verdict) => [verdict, counted[verdict] ?? 0])
  return Object.fromEntries(counts) as Record<Verdict, number>
}
