import { ExecutionNotFound } from '../lib/core/errors.ts'
import { CANCELLED } from '../lib/core/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { parseExecutionId, toRecordResponse } from '../lib/http/execution-response.ts'
import { system } from '../lib/system.ts'

const { executions } = openStores()

/** Ends the execution at once. Its worker stops at its next write, which fails (docs/decisions/0003-cancel.md). */
async function cancelExecution({ organizationId, executionId }: Request<'cancel-execution'>) {
  const id = parseExecutionId(executionId)
  const finishedAt = new Date(system.now()).toISOString()
  const cancelled = await executions.end({ organizationId, id, error: CANCELLED, finishedAt })
  const execution = cancelled ?? (await executions.get({ organizationId, id }))
  if (!execution) throw new ExecutionNotFound()
  return toRecordResponse(execution)
}

export const handler = endpoint('cancel-execution', cancelExecution)
