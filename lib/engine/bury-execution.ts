import type { Ambient, ExecutionStore } from '../core/ports.ts'
import { exhausted } from '../core/transitions.ts'

type Params = {
  executions: Pick<ExecutionStore, 'get' | 'end'>
  ambient: Ambient
  organizationId: string
  id: string
}

/**
 * Ends an execution in ERROR whose message was delivered in vain as often as it may be, with the last fault that a
 * worker met. One that somebody works on is left: the sweeper sees to it should that worker die.
 */
export async function buryExecution({ executions, ambient, organizationId, id }: Params): Promise<boolean> {
  const execution = await executions.get({ organizationId, id })
  if (!execution) return false
  const now = ambient.now()
  const finishedAt = new Date(now).toISOString()
  const error = exhausted(execution)
  return (await executions.end({ organizationId, id, error, finishedAt, unleasedAt: now })) !== null
}
