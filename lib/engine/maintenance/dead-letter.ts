import type { ExecutionStore, RunQueue, System } from '../../core/ports.ts'
import { deservesAnother, exhausted } from '../../core/transitions.ts'

type Params = {
  executions: Pick<ExecutionStore, 'get' | 'end'>
  queue: RunQueue
  system: System
  organizationId: string
  id: string
}

/**
 * Ends an execution in ERROR whose message was delivered in vain as often as it may be, with the last fault that a
 * worker met. One that somebody works on is left: the sweeper sees to it should that worker die. One that has moved on
 * since its message was sent gets another.
 */
export async function processDeadLetter(params: Params): Promise<'ended' | 'enqueued' | 'left'> {
  const { executions, queue, system, organizationId, id } = params
  const execution = await executions.get({ organizationId, id })
  if (!execution) return 'left'
  if (execution.status === 'IN_PROGRESS' && deservesAnother(execution)) {
    await queue.send({ executionId: id, organizationId, tenantId: execution.tenantId })
    return 'enqueued'
  }
  const now = system.now()
  const finishedAt = new Date(now).toISOString()
  const error = exhausted(execution)
  return (await executions.end({ organizationId, id, error, finishedAt, unleasedAt: now })) ? 'ended' : 'left'
}
