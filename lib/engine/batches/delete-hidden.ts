import pLimit from 'p-limit'
import { lineExecutionId } from '../../core/batch.ts'
import { CANCELLED } from '../../core/execution-errors.ts'
import type { FeedMessage } from '../../core/ports/queues.ts'
import type { OwnedId } from '../../core/ports/system.ts'
import { endExecution } from '../end-execution.ts'
import { timesOf } from '../engine.ts'
import { type BatchEngine, endingsOf } from './batch-engine.ts'

/** Executions that one request looks for, and deletions at the same time. */
const SLICE = 100
const PARALLEL_DELETIONS = 16

/**
 * Deletes a hidden batch with the executions of its lines: one whose client has deleted it, or whose lines were never
 * complete. Goes on for a limited time, then another message does.
 * @throws Unavailable
 */
export async function deleteHidden(
  engine: BatchEngine,
  { batchId: id, organizationId }: FeedMessage,
  until: number,
): Promise<void> {
  const { batches, executions, queue, system } = engine
  const batch = await batches.getHidden({ organizationId, id })
  if (!batch) return
  await batches.postpone({ id, openUntil: system.now() + timesOf(engine).leaseMs })
  const limit = pLimit(PARALLEL_DELETIONS)
  for (let start = 0; start < batch.lines; start += SLICE) {
    const length = Math.min(SLICE, batch.lines - start)
    const ids = Array.from({ length }, (_, index) => lineExecutionId(batch, start + index))
    const existing = await executions.findExisting({ ids, orRefused: false })
    await Promise.all(
      [...existing].map((each) => limit(() => deleteLine(engine, { organizationId, id: each }))),
    )
    if (existing.size > 0 && system.now() >= until) return queue.feed({ batchId: id, organizationId })
  }
  await batches.remove({ batch })
}

async function deleteLine(engine: BatchEngine, key: OwnedId) {
  const { executions, system } = engine
  const remove = () => executions.delete({ ...key, now: system.now() })
  if ((await remove()) !== 'open') return
  await endExecution(endingsOf(engine), { ...key, error: CANCELLED })
  await remove()
}
