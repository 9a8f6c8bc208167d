import { type LeaseTimes, nextSweep } from '../../core/lease-times.ts'
import type { ExecutionStore, RunQueue, StaleExecution, System } from '../../core/ports.ts'
import type { StepStore } from '../../core/step.ts'
import { DEADLINE_EXCEEDED } from '../../core/transitions.ts'
import { endAbandoned } from '../end-execution.ts'

type Sweep = {
  executions: Pick<ExecutionStore, 'listStale' | 'postpone' | 'end'>
  steps: Pick<StepStore, 'getProgress'>
  queue: RunQueue
  system: System
  times: LeaseTimes
}

export type SweepResult = { ended: number; enqueued: number }

/** Executions per batch, and batches per sweep; the next sweep follows within a minute. */
const BATCH_SIZE = 200
const MAX_BATCHES = 25

/**
 * Re-enqueues executions without a live lease, and ends those past their deadline. A failure does not stop the sweep of
 * the other executions; the next sweep lists the execution again.
 * @throws an AggregateError at the end if some executions could not be swept
 */
export async function sweep(params: Sweep): Promise<SweepResult> {
  const total: SweepResult = { ended: 0, enqueued: 0 }
  const errors: unknown[] = []
  let listed = 0
  const now = params.system.now()
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const stale = await params.executions.listStale({ now, limit: BATCH_SIZE })
    listed += stale.length
    let swept = 0
    for (const result of await Promise.allSettled(stale.map((execution) => sweepOne(params, execution)))) {
      if (result.status === 'rejected') errors.push(result.reason)
      else if (result.value !== 'ignored') {
        total[result.value]++
        swept++
      }
    }
    // Without progress, the next batch would list the same executions.
    if (stale.length < BATCH_SIZE || swept === 0) break
  }
  if (errors.length > 0) throw new AggregateError(errors, describeErrors(errors, listed))
  return total
}

function describeErrors([first, ...others]: unknown[], listed: number): string {
  const reason = first instanceof Error ? first.message : String(first)
  return `${others.length + 1} of ${listed} stale executions could not be swept. First error: ${reason}`
}

async function sweepOne(
  { queue, times, ...stores }: Sweep,
  stale: StaleExecution,
): Promise<'ended' | 'enqueued' | 'ignored'> {
  const now = stores.system.now()
  const { id, organizationId, tenantId, createdAt, deadlineAt } = stale
  if (deadlineAt <= now) {
    const ended = await endAbandoned(stores, { organizationId, id, error: DEADLINE_EXCEEDED })
    return ended ? 'ended' : 'ignored'
  }
  const until = nextSweep(times, Date.parse(createdAt), now)
  if (!(await stores.executions.postpone({ stale, until, now }))) return 'ignored'
  await queue.send({ executionId: id, organizationId, tenantId })
  return 'enqueued'
}
