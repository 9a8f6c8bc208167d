import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { deadlineIn, type WorkerDeadline } from '../lib/engine/checkpoints/deadline.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { withOutbox } from '../lib/engine/notifications/outbox.ts'
import { openWaitLimits } from '../lib/engine/waiting/suspend.ts'
import { processMessage } from '../lib/engine/worker/process-message.ts'
import { SHARED_WORKER } from '../lib/environment.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { openRunQueue, parseRunMessage } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const queue = openRunQueue()
const stores = withOutbox(openMeasuredStores(), { queue: openDeliveryQueue(), system })
const engine = { ...stores, queue, system, times: readTimes(), ...openWaitLimits({ ...stores, system }) }
const hasSharedProcess = process.env[SHARED_WORKER] === 'on'

/**
 * The runner: processes the execution named by each message. SQS redelivers a message that is reported as failed.
 * @param context `shutdown`: of the local runner, whose process can be stopped at any time
 */
export function handler(
  event: SQSEvent,
  context?: Pick<Context, 'getRemainingTimeInMillis'> & { shutdown?: WorkerDeadline },
): Promise<SQSBatchResponse> {
  const deadline = context && deadlineIn(context.getRemainingTimeInMillis(), context.shutdown)
  const isShared = event.Records.length > 1 || hasSharedProcess
  const processRecord = async (record: SQSRecord) => {
    const { executionId, wakes = false } = parseRunMessage(record.body)
    const receiveCount = Number(record.attributes.ApproximateReceiveCount)
    const { changeVisibility } = queue.received(record)
    const message = { wakes, receiveCount, isShared, changeVisibility }
    const result = await processMessage(engine, executionId, { message, ...(deadline && { deadline }) })
    if (typeof result === 'string') return
    await changeVisibility(result.retryInMs)
    throw new RetryLater()
  }
  const responding = processRecords(event, processRecord, (record) => queue.received(record).delete())
  return responding.finally(() => deadline?.clear())
}

/** Reports a message as failed, so that SQS redelivers it after its visibility timeout. */
class RetryLater extends Error {
  override message = 'Retryable error; the run will be retried.'
}
