import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { toBatchRecord } from '../lib/contract/records/batch.ts'
import { toExecutionRecord, toExecutionSummary } from '../lib/contract/records/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { deliverEvents, retryDelivery } from '../lib/engine/notifications/deliver.ts'
import { openDeliveryEngine } from '../lib/engine/notifications/open-delivery-engine.ts'
import type { ScoreEngine, scoreRun } from '../lib/engine/submit/score-run.ts'
import { openWaitLimits } from '../lib/engine/waiting/suspend.ts'
import { shareOfQueue } from '../lib/limits/queue-share.ts'
import { openDeliveryQueue, parseDeliveryMessage } from '../lib/sqs/delivery-queue.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const stores = openStores()
const queue = openDeliveryQueue()
let scoreEngine: ScoreEngine | undefined
const engine = openDeliveryEngine({
  ...stores,
  queue,
  system,
  score,
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

/** What runs need is loaded by the first one that has scorers. */
async function score(execution: Parameters<typeof scoreRun>[1]): ReturnType<typeof scoreRun> {
  const [{ openScoreEngine, scoreRun }, { withMetricsAndOutbox }] = await Promise.all([
    import('../lib/engine/submit/score-run.ts'),
    import('../lib/engine/notifications/metrics-and-outbox.ts'),
  ])
  scoreEngine ??= openScoreEngine({
    ...withMetricsAndOutbox(stores, { queue, system }),
    queue: openRunQueue(),
    system,
    ...openWaitLimits({ ...stores, system }),
  })
  return scoreRun(scoreEngine, execution)
}

async function deliver({ body }: SQSRecord): Promise<void> {
  const { destinationId, revision, ...message } = parseDeliveryMessage(body)
  if (destinationId === undefined || revision === undefined) await deliverEvents(engine, message)
  else await retryDelivery(engine, { ...message, destinationId, revision })
}
