import type { ExecutionSummary } from '../../core/execution.ts'
import type { ExecutionStore } from '../../core/ports.ts'
import { type Engine, timesOf } from '../engine.ts'

type Stores = Pick<Engine, 'queue' | 'system' | 'times'> & { executions: Pick<ExecutionStore, 'postpone'> }

/**
 * Sends the message that resumes a suspended execution after something has arrived for it. If it cannot be sent, the
 * sweeper does, which looks for timers after those that it has sent.
 * @throws Unavailable if neither is possible
 */
export async function sendWake(
  { executions, queue, system, times }: Stores,
  execution: ExecutionSummary,
): Promise<void> {
  const { id: executionId, organizationId, tenantId, sharesWorker, openUntil } = execution
  try {
    await queue.send({ executionId, organizationId, tenantId, sharesWorker, wakes: true })
  } catch {
    const until = system.now() + 2 * timesOf({ times }).leaseMs
    if (openUntil !== null && openUntil > until)
      await executions.postpone({ stale: { ...execution, openUntil }, until, now: null })
  }
}
