import { openStores } from '../lib/dynamodb/open-stores.ts'
import { cancelExecution } from '../lib/engine/executions/change-execution.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toRecordResponse } from '../lib/http/responses.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { executions, limits, rates, steps, audit } = withMetricsAndOutbox(openStores(), {
  queue: openDeliveryQueue(),
  system,
})
const queue = openRunQueue()

async function cancel(request: Request<'cancel-execution'>) {
  const execution = await cancelExecution({ executions, limits, steps, queue, system }, request)
  return toRecordResponse(execution, request)
}

export const handler = endpoint('cancel-execution', cancel, { rates, audit: auditRequests(audit) })
