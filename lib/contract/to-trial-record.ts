import type { Batch, CountedBatch, LaneTotals, TrialItem } from '../core/batch.ts'
import { type ExecutionSummary, usageOfTree } from '../core/execution.ts'
import { judgementOf, type TrialSettings, VERDICTS, type Verdict } from '../core/trial.ts'
import { measuresOf } from '../core/usage.ts'
import type { TrialItemRecord, TrialRecord } from './records/trial-record.ts'
import { toCounts } from './to-batch-record.ts'

/** @param totals of the lines that have ended so far */
export function toTrialRecord({ batch, totals }: CountedBatch): TrialRecord {
  const { from, to, tenantId, feedback, tools, models, steps, ignore, isCut } = batch.trial as TrialSettings
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
    error,
    costUsd: (execution && usageOfTree(execution)?.costUsd) ?? null,
    replayedCostUsd: execution?.replayedUsage?.costUsd ?? null,
    runTimeMs: runTimeOf(execution),
    steps: execution?.steps ?? null,
  }
}

function runTimeOf(execution: ExecutionSummary | null): number | null {
  if (!execution?.finishedAt) return null
  return measuresOf(execution, Date.parse(execution.finishedAt)).runTimeMs
}
