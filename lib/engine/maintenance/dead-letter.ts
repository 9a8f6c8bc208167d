import type { ExecutionStore, RunQueue, System } from '../../core/ports.ts'
import { attemptsExhausted, hasProgressed } from '../../core/transitions.ts'

type Params = {
  executions: Pick<ExecutionStore, 'get' | 'end'>
  queue: RunQueue
  system: System
  organizationId: string
  id: string
}

export type DeadLetterResult = 'ended' | 'enqueued' | 'ignored'

/**
 * Ends an execution whose message exceeded maxReceiveCount, with the last retryable error. An execution with a live
 * lease is ignored: if its worker dies, the sweeper re-enqueues it. One that has progressed since its message was sent
 * gets a new message.
 */
export async function processDeadLetter(params: Params): Promise<DeadLetterResult> {
  const { executions, queue, system, organizationId, id } = params
  const execution = await executions.get({ organizationId, id })
  if (!execution) return 'ignored'
  if (execution.status === 'IN_PROGRESS' && hasProgressed(execution)) {
    await queue.send({ executionId: id, organizationId, tenantId: execution.tenantId })
    return 'enqueued'
  }
  const now = system.now()
  const finishedAt = new Date(now).toISOString()
  const error = attemptsExhausted(execution)
  const ended = await executions.end({ organizationId, id, error, finishedAt, unleasedAt: now })
  return ended ? 'ended' : 'ignored'
}
