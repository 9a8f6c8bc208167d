import { type LeaseTimes, nextSweep } from '../../core/lease-times.ts'
import type { ExecutionStore, RunQueue, StaleExecution, System } from '../../core/ports.ts'

type Sweep = {
  executions: Pick<ExecutionStore, 'listStale' | 'postpone' | 'end'>
  queue: RunQueue
  system: System
  times: LeaseTimes
}

export type SweepResult = { ended: number; enqueued: number }

/** Executions that are looked at together, and how often: the next sweep follows soon. */
const ROUND = 200
const MAX_ROUNDS = 25

/** Enqueues what nobody has a live lease on, and ends what is past its deadline. */
export async function sweep(params: Sweep): Promise<SweepResult> {
  const total: SweepResult = { ended: 0, enqueued: 0 }
  const now = params.system.now()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const stale = await params.executions.listStale({ now, limit: ROUND })
    // One that fails must not keep the others; it is found again.
    const results = await Promise.allSettled(stale.map((execution) => sweepOne(params, execution)))
    const count = (wanted: string) =>
      results.filter((result) => result.status === 'fulfilled' && result.value === wanted).length
    const [ended, enqueued] = [count('ended'), count('enqueued')]
    total.ended += ended
    total.enqueued += enqueued
    // The same ones would be listed again.
    if (stale.length < ROUND || ended + enqueued === 0) break
  }
  return total
}

async function sweepOne(
  { executions, queue, system, times }: Sweep,
  stale: StaleExecution,
): Promise<'ended' | 'enqueued' | 'left'> {
  const now = system.now()
  const { id, organizationId, tenantId, createdAt, deadlineAt } = stale
  if (deadlineAt <= now) {
    const error = { code: 'DeadlineExceeded', message: 'The execution was still open at its deadline.' }
    const finishedAt = new Date(now).toISOString()
    return (await executions.end({ organizationId, id, error, finishedAt, unleasedAt: now }))
      ? 'ended'
      : 'left'
  }
  const until = nextSweep(times, Date.parse(createdAt), now)
  if (!(await executions.postpone({ stale, until }))) return 'left'
  await queue.send({ executionId: id, organizationId, tenantId })
  return 'enqueued'
}
