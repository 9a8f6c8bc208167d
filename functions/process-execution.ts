import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { leaseTimes } from '../lib/core/lease-times.ts'
import { LEASE_MS } from '../lib/core/limits.ts'
import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../lib/dynamodb/cache-store.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { stepStore } from '../lib/dynamodb/step-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { departureIn } from '../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../lib/engine/worker/process-message.ts'
import { LEASE_SECONDS, millisecondsOf } from '../lib/environment.ts'
import { measured } from '../lib/metrics.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { messageHider, parseRunMessage, runQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const table = openTable()
const engine = {
  agents: agentStore(table),
  executions: measured(executionStore(table)),
  steps: stepStore(table),
  cache: cacheStore(table),
  system,
  times: leaseTimes(millisecondsOf(LEASE_SECONDS, LEASE_MS)),
}
const queue = runQueue()
const hideMessage = messageHider()

/** The runner: takes up the execution that a message names. A message that is reported as failed comes back. */
export function handler(
  event: SQSEvent,
  context?: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<SQSBatchResponse> {
  const leave = context && departureIn(context.getRemainingTimeInMillis())
  return processRecords(event, async ({ body, receiptHandle, attributes }) => {
    const { executionId } = parseRunMessage(body)
    const hide = (ms: number) => hideMessage(receiptHandle, ms)
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
