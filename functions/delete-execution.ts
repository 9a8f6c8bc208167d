import { openStores } from '../lib/dynamodb/open-stores.ts'
import { deleteExecution } from '../lib/engine/executions/change-execution.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { system } from '../lib/system.ts'

const { executions, batches, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function remove(request: Request<'delete-execution'>) {
  await deleteExecution({ executions, batches, system }, request)
  return { status: 204 }
}

export const handler = endpoint('delete-execution', remove, { rates, audit })
