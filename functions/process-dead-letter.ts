import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { processDeadLetter } from '../lib/engine/maintenance.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import { logger } from '../lib/logger.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { openRunQueue, parseRunMessage } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { executions, limits, steps } = withMetricsAndOutbox(openStores(), {
  queue: openDeliveryQueue(),
  system,
})
const engine = { executions, limits, steps, queue: openRunQueue(), system }

/** Ends the executions whose messages exceeded maxReceiveCount and were moved to the dead-letter queue. */
export function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return processRecords(event, async ({ body }) => {
    const message = parseRunMessage(body)
    if (!('executionId' in message)) {
      // Its timer sends another one.
      logger.warn('dead letter dropped', message)
      return
    }
    const { executionId, organizationId } = message
    const outcome = await processDeadLetter({ ...engine, organizationId, id: executionId })
    logger.warn('dead letter processed', { executionId, organizationId, outcome })
  })
}
