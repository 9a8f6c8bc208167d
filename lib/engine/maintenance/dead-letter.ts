import { isFinal } from '../../core/execution.ts'
import type { ExecutionStore, RunQueue, System } from '../../core/ports.ts'
import type { StepStore } from '../../core/step.ts'
import { attemptsExhausted, DEADLINE_EXCEEDED, hasAttemptsLeft } from '../../core/transitions.ts'
import { endAbandoned } from '../end-execution.ts'

type Params = {
  executions: Pick<ExecutionStore, 'get' | 'end'>
  steps: Pick<StepStore, 'getProgress'>
  queue: RunQueue
  system: System
  organizationId: string
  id: string
}

export type DeadLetterResult = 'ended' | 'enqueued' | 'ignored'

/**
 * Ends an execution whose message exceeded maxReceiveCount, with the last retryable error, if its attempts are used up
 * or its deadline has passed. Otherwise sends a new message. An execution with a live lease is never ended: if its
 * worker dies, the sweeper re-enqueues it.
 */
export async function processDeadLetter(params: Params): Promise<DeadLetterResult> {
  const { executions, queue, system, organizationId, id } = params
  const execution = await executions.get({ organizationId, id })
  if (!execution || isFinal(execution)) return 'ignored'
  const isOverdue = execution.deadlineAt <= system.now()
  if (hasAttemptsLeft(execution) && !isOverdue) {
    await queue.send({ executionId: id, organizationId, tenantId: execution.tenantId })
    return 'enqueued'
  }
  const error = isOverdue ? DEADLINE_EXCEEDED : attemptsExhausted(execution)
  const ended = await endAbandoned(params, { organizationId, id, error })
  return ended ? 'ended' : 'ignored'
}
