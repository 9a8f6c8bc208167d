import type { Batch, CountedBatch, LineInput } from '../../core/batch.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { FeedQueue } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import { zip } from '../../core/read-pages.ts'
import { BatchInProgress, BatchNotFound, TrialNotFound } from '../../core/resource-errors.ts'
import { type AcceptStores, prepareTarget, startBatch } from './accept.ts'
import { type BatchReference, findBatch, getBatch } from './read.ts'
import { readLines } from './read-lines.ts'

const cancelled = (kind: 'batch' | 'trial'): ExecutionError => ({
  code: 'Cancelled',
  message: `The ${kind} was cancelled on request.`,
})

type ChangeStores = { batches: BatchStore; queue: Pick<FeedQueue, 'feed'>; system: System }

/**
 * Starts no further line and ends those that are open, at once or soon. One that has ended does not change.
 * @throws BatchNotFound, TrialNotFound
 */
export async function cancelBatch(stores: ChangeStores, reference: BatchReference): Promise<CountedBatch> {
  const { batches } = stores
  const batch = await findBatch(stores, reference)
  if (batch.status !== 'IN_PROGRESS') return getBatch(stores, reference)
  await batches.stop({ batch, error: cancelled(batch.trial ? 'trial' : 'batch'), status: 'CANCELLING' })
  await feed(stores, batch)
  return getBatch(stores, reference)
}

/** Best effort: the timer repeats it. */
const feed = ({ queue }: ChangeStores, { id: batchId, organizationId }: Batch): Promise<void> =>
  queue.feed({ batchId, organizationId }).catch(() => undefined)

/**
 * Hides a batch that has ended. Its executions and its lines are deleted from then on.
 * @throws BatchNotFound, TrialNotFound, BatchInProgress
 */
export async function deleteBatch(stores: ChangeStores, reference: BatchReference): Promise<void> {
  const batch = await findBatch(stores, reference)
  if (batch.status !== 'ENDED') throw new BatchInProgress(batch.id, batch.trial ? 'trial' : 'batch')
  if (await stores.batches.hide({ batch, now: stores.system.now() })) return feed(stores, batch)
  throw batch.trial ? new TrialNotFound() : new BatchNotFound()
}

type RetryStores = AcceptStores & {
  executions: Pick<ExecutionStore, 'readSummaries'>
}

/**
 * A new batch of the lines of one that has ended which failed, were cancelled or were not started. It has the options
 * of the first one. Without an idempotency key, a version has no second one until the last one has ended.
 * @param version by default, that of the first batch
 * @throws BatchNotFound, BatchInProgress, ServiceError `InputSchemaMismatch` if no line failed, and what `prepareBatch`
 * and `acceptBatch` throw
 */
export async function retryFailed(
  stores: RetryStores,
  {
    idempotencyKey,
    version,
    ...reference
  }: BatchReference & { idempotencyKey: string | undefined; version?: string | undefined },
): Promise<Batch> {
  const batch = await findBatch(stores, reference)
  if (batch.status !== 'ENDED') throw new BatchInProgress(batch.id)
  const { access } = reference
  const target = await prepareTarget(stores, {
    access,
    idOrSlug: batch.agentId,
    overrides: {
      ...batch.options,
      version: version ?? batch.versionId,
      tenantId: batch.tenantId ?? undefined,
      webhookUrl: batch.webhookUrl ?? undefined,
      maxBatchCostUsd: batch.maxCostUsd ?? undefined,
      maxConcurrency: batch.lanes,
    },
    idempotencyKey,
  })
  const source = { identity: batch.id, retryOf: batch.id }
  const readLines = async () => ({ lines: await readFailedLines(stores, batch) })
  if (target.key !== undefined) return startBatch(stores, target, { ...source, readLines })
  const read = await readLines()
  for (let number = 1; ; number++) {
    const key = `retry ${number} of ${batch.id} on ${target.version.id}`
    const retry = await startBatch(stores, { ...target, key }, { ...source, readLines: async () => read })
    if (retry.status !== 'ENDED') return retry
  }
}

/** Without lines whose executions were deleted: whether these failed is not known. */
async function readFailedLines(
  { batches, executions }: Pick<RetryStores, 'batches' | 'executions'>,
  batch: Batch,
): Promise<LineInput[]> {
  const { organizationId } = batch
  const failed: LineInput[] = []
  for await (const lines of readLines({ batches }, batch)) {
    const ids = lines.map(({ executionId }) => executionId)
    const read = executions.readSummaries({ organizationId, ids })
    for await (const [{ customId, input }, summary] of zip(lines, read))
      if (summary ? summary.status === 'ERROR' : batch.stopped) failed.push({ customId, input })
  }
  if (failed.length > 0) return failed
  throw new ServiceError('InputSchemaMismatch', 'No line of the batch has failed: there is nothing to retry.')
}
