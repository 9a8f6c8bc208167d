import { ENQUEUED_GRACE_MS } from '../core/limits.ts'
import type { Ambient, ExecutionStore, RunQueue, StaleExecution } from '../core/ports.ts'

type Sweep = { executions: ExecutionStore; queue: RunQueue; ambient: Ambient }

export type SweepResult = { ended: number; enqueued: number }

/** Executions that one sweep takes up; the next one follows soon. */
const SWEEP_SIZE = 200

/** Enqueues what nobody has a live lease on, and ends what is past its deadline. */
export async function sweep(params: Sweep): Promise<SweepResult> {
  const stale = await params.executions.listStale({ now: params.ambient.now(), limit: SWEEP_SIZE })
  const results = await Promise.all(stale.map((execution) => sweepOne(params, execution)))
  const count = (wanted: string) => results.filter((result) => result === wanted).length
  return { ended: count('ended'), enqueued: count('enqueued') }
}

async function sweepOne({ executions, queue, ambient }: Sweep, stale: StaleExecution) {
  const now = ambient.now()
  const { id, organizationId } = stale
  if (stale.deadlineAt <= now) {
    const error = { code: 'DeadlineExceeded', message: 'The execution was still open at its deadline.' }
    const finishedAt = new Date(now).toISOString()
    return (await executions.end({ organizationId, id, error, finishedAt, unleasedAt: now }))
      ? 'ended'
      : 'left'
  }
  if (!(await executions.postpone({ stale, until: now + ENQUEUED_GRACE_MS }))) return 'left'
  await queue.send({ executionId: id, organizationId, tenantId: null })
  return 'enqueued'
}
