import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { toBatchRecord } from '../lib/contract/records/batch.ts'
import { toExecutionRecord, toExecutionSummary } from '../lib/contract/records/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { deliverEvents, retryDelivery } from '../lib/engine/notifications/deliver.ts'
import { openDeliveryEngine } from '../lib/engine/notifications/open-delivery-engine.ts'
import { shareOfQueue } from '../lib/limits/queue-share.ts'
import { openDeliveryQueue, parseDeliveryMessage } from '../lib/sqs/delivery-queue.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { system } from '../lib/system.ts'

const stores = openStores()
const queue = openDeliveryQueue()
const engine = openDeliveryEngine({
  ...stores,
  queue,
  system,
  toRecord: toExecutionRecord,
  toSummary: toExecutionSummary,
  toBatchRecord,
})

const inShare = shareOfQueue({ rates: stores.rates, name: 'deliveries' })

/** Sends the events of executions to their destinations. SQS repeats a message that is reported as failed. */
export const handler = (event: SQSEvent): Promise<SQSBatchResponse> =>
  inShare(
    () => processRecords(event, deliver),
    (delayMs) => processRecords(event, ({ body }) => queue.send({ ...parseDeliveryMessage(body), delayMs })),
  )

async function deliver({ body }: SQSRecord): Promise<void> {
  const { destinationId, revision, ...message } = parseDeliveryMessage(body)
  if (destinationId === undefined || revision === undefined) await deliverEvents(engine, message)
  else await retryDelivery(engine, { ...message, destinationId, revision })
}
