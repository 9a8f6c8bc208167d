import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { deadlineIn, type WorkerDeadline } from '../lib/engine/checkpoints/deadline.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { processMessage } from '../lib/engine/worker/process-message.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { openRunQueue, parseRunMessage } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const engine = { ...openMeasuredStores(), system, times: readTimes() }
const queue = openRunQueue()

/**
 * The runner: processes the execution named by each message. SQS redelivers a message that is reported as failed.
 * @param context `shutdown`: of the local runner, whose process can be stopped at any time
 */
export function handler(
  event: SQSEvent,
  context?: Pick<Context, 'getRemainingTimeInMillis'> & { shutdown?: WorkerDeadline },
): Promise<SQSBatchResponse> {
  const deadline = context && deadlineIn(context.getRemainingTimeInMillis(), context.shutdown)
  const responding = processRecords(event, async ({ body, receiptHandle, attributes }) => {
    const { executionId } = parseRunMessage(body)
    const message = {
      queue,
      receiveCount: Number(attributes.ApproximateReceiveCount),
      changeVisibility: (ms: number) => queue.changeVisibility(receiptHandle, ms),
    }
    const result = await processMessage(engine, executionId, { message, ...(deadline && { deadline }) })
    if (typeof result === 'string') return
    await message.changeVisibility(result.retryInMs)
    throw new RetryLater()
  })
  return responding.finally(() => deadline?.clear())
}

/** Reports a message as failed, so that SQS redelivers it after its visibility timeout. */
class RetryLater extends Error {
  override message = 'Retryable error; the run will be retried.'
}
