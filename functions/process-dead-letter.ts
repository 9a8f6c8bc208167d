import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { processDeadLetter } from '../lib/engine/maintenance/dead-letter.ts'
import { logger } from '../lib/logger.ts'
import { measured } from '../lib/metrics.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { parseRunMessage, runQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const executions = measured(executionStore(openTable()))
const queue = runQueue()

/** Of the dead-letter queue: ends the execution of a message that was delivered in vain as often as it may be. */
export function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return processRecords(event, async ({ body }) => {
    const { executionId, organizationId } = parseRunMessage(body)
    const outcome = await processDeadLetter({ executions, queue, system, organizationId, id: executionId })
    logger.warn('dead letter', { executionId, organizationId, outcome })
  })
}
