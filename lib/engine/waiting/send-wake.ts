import type { ExecutionSummary } from '../../core/execution.ts'
import { SYNC_DEADLINE_MS } from '../../core/limits.ts'
import type { ExecutionStore } from '../../core/ports.ts'
import { type Engine, timesOf } from '../engine.ts'

type Stores = Pick<Engine, 'queue' | 'system' | 'times'> & { executions: Pick<ExecutionStore, 'postpone'> }

/**
 * Sends the message that resumes a suspended execution after something has arrived for it. If it cannot be sent, the
 * sweeper does, which looks for timers after those that it has sent.
 *
 * A worker that is still running looks itself after it has suspended the execution. If it dies in between, its message
 * brings another one. The first worker of a synchronous run has none: a message arrives when it must have ended.
 * @throws Unavailable if neither is possible
 */
export async function sendWake(
  { executions, queue, system, times }: Stores,
  execution: ExecutionSummary,
): Promise<void> {
  const { id: executionId, organizationId, tenantId, sharesWorker, suspension, openUntil } = execution
  const { leaseMs } = timesOf({ times })
  const hasFirstWorker = execution.lease !== null && execution.attempts === 1
  if (!suspension && !hasFirstWorker) return
  const delayMs = suspension ? 0 : SYNC_DEADLINE_MS.streamed + leaseMs
  try {
    await queue.send({ executionId, organizationId, tenantId, sharesWorker, wakes: true, delayMs })
  } catch {
    const until = system.now() + 2 * leaseMs
    if (suspension && openUntil !== null && openUntil > until)
      await executions.postpone({ stale: { ...execution, openUntil }, until, now: null })
  }
}
