import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { leaseTimes } from '../lib/core/lease-times.ts'
import { LEASE_MS } from '../lib/core/limits.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { departureIn } from '../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../lib/engine/worker/process-message.ts'
import { LEASE_SECONDS, millisecondsOf } from '../lib/environment.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { openRunQueue, parseRunMessage } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const engine = {
  ...openStores(),
  system,
  times: leaseTimes(millisecondsOf(LEASE_SECONDS, LEASE_MS)),
}
const queue = openRunQueue()

/** The runner: takes up the execution that a message names. A message that is reported as failed comes back. */
export function handler(
  event: SQSEvent,
  context?: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<SQSBatchResponse> {
  const leave = context && departureIn(context.getRemainingTimeInMillis())
  return processRecords(event, async ({ body, receiptHandle, attributes }) => {
    const { executionId } = parseRunMessage(body)
    const hide = (ms: number) => queue.changeVisibility(receiptHandle, ms)
    const delivery = { queue, hide, count: Number(attributes.ApproximateReceiveCount) }
    const result = await processMessage(engine, executionId, { delivery, ...(leave && { leave }) })
    if (typeof result === 'string') return
    await hide(result.comesBackMs)
    throw new ComesBack()
  })
}

/** What a message is reported as failed with that is to be delivered again. */
class ComesBack extends Error {
  override message = 'A passing fault: the execution goes on later.'
}
