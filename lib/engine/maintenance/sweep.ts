import { type LeaseTimes, nextSweep } from '../../core/lease-times.ts'
import type { ExecutionStore, RunQueue, StaleExecution, System } from '../../core/ports.ts'

type Sweep = {
  executions: Pick<ExecutionStore, 'listStale' | 'postpone' | 'end'>
  queue: RunQueue
  system: System
  times: LeaseTimes
}

export type SweepResult = { ended: number; enqueued: number }

/** Executions per batch, and batches per sweep; the next sweep follows within a minute. */
const BATCH_SIZE = 200
const MAX_BATCHES = 25

/** Re-enqueues executions without a live lease, and ends those past their deadline. */
export async function sweep(params: Sweep): Promise<SweepResult> {
  const total: SweepResult = { ended: 0, enqueued: 0 }
  const now = params.system.now()
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const stale = await params.executions.listStale({ now, limit: BATCH_SIZE })
    // One failure must not stop the others; the execution is listed again by the next sweep.
    const results = await Promise.allSettled(stale.map((execution) => sweepOne(params, execution)))
    const count = (value: string) =>
      results.filter((result) => result.status === 'fulfilled' && result.value === value).length
    const [ended, enqueued] = [count('ended'), count('enqueued')]
    total.ended += ended
    total.enqueued += enqueued
    // Without progress, the next batch would list the same executions.
    if (stale.length < BATCH_SIZE || ended + enqueued === 0) break
  }
  return total
}

async function sweepOne(
  { executions, queue, system, times }: Sweep,
  stale: StaleExecution,
): Promise<'ended' | 'enqueued' | 'ignored'> {
  const now = system.now()
  const { id, organizationId, tenantId, createdAt, deadlineAt } = stale
  if (deadlineAt <= now) {
    const error = { code: 'DeadlineExceeded', message: 'The execution did not finish before its deadline.' }
    const finishedAt = new Date(now).toISOString()
    const ended = await executions.end({ organizationId, id, error, finishedAt, unleasedAt: now })
    return ended ? 'ended' : 'ignored'
  }
  const until = nextSweep(times, Date.parse(createdAt), now)
  if (!(await executions.postpone({ stale, until }))) return 'ignored'
  await queue.send({ executionId: id, organizationId, tenantId })
  return 'enqueued'
}
