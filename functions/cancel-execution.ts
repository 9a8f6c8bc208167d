import { ExecutionNotFound } from '../lib/core/errors.ts'
import { CANCELLED } from '../lib/core/execution.ts'
import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { emitCompleted } from '../lib/engine/completion-events.ts'
import { endExecution } from '../lib/engine/end-execution.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'
import { toRecordResponse } from '../lib/http/execution-response.ts'
import { system } from '../lib/system.ts'

const { executions, rates, steps } = openMeasuredStores()
const stores = { executions, steps, system }

/** Ends the execution at once. A worker in this process stops at once, another one at its next step or heartbeat (docs/decisions/0003-cancel.md). */
async function cancelExecution(request: Request<'cancel-execution'>) {
  const { organizationId } = request
  const id = await resolveExecutionId(executions, request)
  const cancelled = await endExecution(stores, { organizationId, id, error: CANCELLED })
  if (cancelled) emitCompleted(id)
  const execution = cancelled ?? (await executions.get({ organizationId, id }))
  if (!execution) throw new ExecutionNotFound()
  return toRecordResponse(execution)
}

export const handler = endpoint('cancel-execution', cancelExecution, { rates })
