import type { Execution } from '../lib/core/execution.ts'
import type { ExecutionError } from '../lib/core/execution-errors.ts'
import type { Stores } from '../lib/dynamodb/open-stores.ts'
import { endExecution } from '../lib/engine/end-execution.ts'
import { system } from '../lib/system.ts'

/** Stores that remember which execution a run has created. */
export function trackExecution(stores: Stores, organizationId: string) {
  const { executions, steps } = stores
  let id: string | undefined
  const create = async (params: { execution: Execution }) => {
    const isNew = await executions.create(params)
    id ??= params.execution.id
    return isNew
  }
  return {
    stores: { ...stores, executions: { ...executions, create } },
    /** The id of the first execution that was created: those that follow are of agents that it calls. */
    getId: () => id,
    /** Ends this execution, so that the sweeper does not requeue it. */
    async end(error: ExecutionError): Promise<void> {
      if (id) await endExecution({ executions, steps, system }, { organizationId, id, error })
    },
  }
}
