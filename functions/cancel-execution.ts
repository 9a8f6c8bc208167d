import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { cancelExecution } from '../lib/engine/end-execution.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'
import { toChangeResponse } from '../lib/http/execution-response.ts'
import { system } from '../lib/system.ts'

const { executions, rates, steps } = openMeasuredStores()

async function cancel(request: Request<'cancel-execution'>) {
  const { access, organizationId } = request
  const id = await resolveExecutionId(executions, request)
  return toChangeResponse(
    await cancelExecution({ executions, steps, system }, { organizationId, id }),
    access,
  )
}

export const handler = endpoint('cancel-execution', cancel, { rates })
