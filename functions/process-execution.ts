import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { ambient } from '../lib/ambient.ts'
import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { stepStore } from '../lib/dynamodb/step-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { takeUpExecution } from '../lib/engine/take-up-execution.ts'
import { processRecords } from '../lib/sqs/process-records.ts'
import { messageKeeper, parseRunMessage } from '../lib/sqs/run-queue.ts'

const table = openTable()
const engine = {
  agents: agentStore(table),
  executions: executionStore(table),
  steps: stepStore(table),
  ambient,
}
const keepMessage = messageKeeper()

/** The runner: takes up the execution that a message names. A message that is reported as failed comes back. */
export function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return processRecords(event, async ({ body, receiptHandle }) => {
    const { executionId } = parseRunMessage(body)
    const result = await takeUpExecution(engine, executionId, () => keepMessage(receiptHandle))
    if (result === 'held') throw new Error('Another worker holds the lease.')
  })
}
