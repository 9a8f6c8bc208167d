import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { backoffMs } from '../lib/core/lease-times.ts'
import type { FiringMessage } from '../lib/core/ports/queues.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { withNextLines } from '../lib/engine/batches/with-next-lines.ts'
import { deadlineIn, type WorkerDeadline } from '../lib/engine/checkpoints/deadline.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import type { ScheduleEngine } from '../lib/engine/schedules/fire.ts'
import { openWaitLimits } from '../lib/engine/waiting/suspend.ts'
import { processMessage } from '../lib/engine/worker/process-message.ts'
import { SHARED_WORKER } from '../lib/environment.ts'
import { shareOfQueue } from '../lib/limits/queue-share.ts'
import { describeCause, logger } from '../lib/logger.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { openRunQueue, parseRunMessage } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const queue = openRunQueue()
const stores = withMetricsAndOutbox(openStores(), { queue: openDeliveryQueue(), system })
const times = readTimes()
const { engine, feed } = withNextLines({
  ...stores,
  queue,
  system,
  times,
  ...openWaitLimits({ ...stores, system }),
})
const inShare = shareOfQueue({ rates: stores.rates, name: 'runners' })
let scheduleEngine: ScheduleEngine | undefined
const hasSharedProcess = process.env[SHARED_WORKER] === 'on'

/**
 * The runner: processes the execution, the batch or the schedule named by each message. SQS redelivers a message that
 * is reported as failed.
 * @param context `shutdown`: of the local runner, whose process can be stopped at any time
 */
export function handler(
  event: SQSEvent,
  context?: Pick<Context, 'getRemainingTimeInMillis'> & { shutdown?: WorkerDeadline },
): Promise<SQSBatchResponse> {
  const deadline = context && deadlineIn(context.getRemainingTimeInMillis(), context.shutdown)
  const isShared = event.Records.length > 1 || hasSharedProcess
  const processRecord = async (record: SQSRecord) => {
    const received = parseRunMessage(record.body)
    const receiveCount = Number(record.attributes.ApproximateReceiveCount)
    const { changeVisibility } = queue.received(record)
    const later = async (retryInMs: number): Promise<never> => {
      await changeVisibility(retryInMs)
      throw new RetryLater()
    }
    if (!('executionId' in received)) {
      const handling = 'batchId' in received ? feed(received) : fire(received)
      return handling.catch((error) => {
        logger.warn('message failed', { ...received, cause: describeCause(error) })
        return later(backoffMs(times, { failures: receiveCount, retryAfterMs: 0, jitter: Math.random() }))
      })
    }
    const { executionId, wakes = false } = received
    const message = { wakes, receiveCount, isShared, changeVisibility }
    const result = await processMessage(engine, executionId, { message, ...(deadline && { deadline }) })
    if (typeof result === 'string') return
    return later(result.retryInMs)
  }
  const responding = inShare(
    () => processRecords(event, processRecord, (record) => queue.received(record).delete()),
    (delayMs) => processRecords(event, (record) => queue.sendAgain(record, delayMs)),
  )
  return responding.finally(() => deadline?.clear())
}

/** The code of schedules is loaded by the first message that needs it. */
async function fire(message: FiringMessage): Promise<void> {
  const { fireSchedule, openScheduleEngine } = await import('../lib/engine/schedules/fire.ts')
  scheduleEngine ??= openScheduleEngine(engine)
  await fireSchedule(scheduleEngine, message)
}

/** Reports a message as failed, so that SQS redelivers it after its visibility timeout. */
class RetryLater extends Error {
  override message = 'Retryable error; the run will be retried.'
}
