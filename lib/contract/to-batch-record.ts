import { type Batch, type CountedBatch, type LaneTotals, NO_TOTALS, waitingIn } from '../core/batch.ts'
import type { BatchRecord } from './records/batch-record.ts'

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
