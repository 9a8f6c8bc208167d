import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { toExecutionRecord, toExecutionSummary } from '../lib/api/to-execution-record.ts'
import type { ExecutionSummary } from '../lib/core/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { circuitBreaker } from '../lib/engine/notifications/circuit-breaker.ts'
import { deliverEvents, retryDelivery } from '../lib/engine/notifications/deliver.ts'
import { openDestinations } from '../lib/engine/notifications/destinations.ts'
import { eventSender } from '../lib/engine/notifications/send-event.ts'
import { PUBLIC_URL } from '../lib/environment.ts'
import { openDeliveryQueue, parseDeliveryMessage } from '../lib/sqs/delivery-queue.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { system } from '../lib/system.ts'

const { executions, deliveries, webhooks } = openStores()
const times = readTimes()
const engine = {
  ...{ executions, deliveries, webhooks, system, times },
  destinations: openDestinations(webhooks),
  breaker: circuitBreaker(system.now, times),
  queue: openDeliveryQueue(),
  send: eventSender(webhooks, { system, times }),
  toRecord: toExecutionRecord,
  toSummary: (execution: ExecutionSummary) => ({
    ...toExecutionSummary(execution),
    url: `${process.env[PUBLIC_URL] ?? ''}/v1/agent_executions/${execution.id}`,
  }),
}

/** Sends the events of executions to their destinations. SQS repeats a message that is reported as failed. */
export const handler = (event: SQSEvent): Promise<SQSBatchResponse> =>
  processRecords(event, async ({ body }) => {
    const { destinationId, revision, ...message } = parseDeliveryMessage(body)
    if (destinationId === undefined || revision === undefined) await deliverEvents(engine, message)
    else await retryDelivery(engine, { ...message, destinationId, revision })
  })
