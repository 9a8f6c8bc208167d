import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { toRecord } from '../../../local/runner/poller.ts'
import type { createInvoker, Deployment } from '../../infra/bundling/invoke-deployed.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'

/** Sweeps, and runs what the queues have, as the stack does, until nothing is open. */
export async function runUntilIdle(
  { sqs, table, functionOf }: Deployment,
  { invoke, deliver }: Pick<ReturnType<typeof createInvoker>, 'deliver' | 'invoke'>,
): Promise<void> {
  const { executions } = openStores(table)
  const { QUEUE_URL = '', MODEL_QUEUE_URL = '' } = functionOf('process-execution').environment

  async function processMessages(QueueUrl: string) {
    const options = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...options }))
    for (const message of Messages) {
      const result = await deliver('process-execution', toRecord(message))
      const failures = result.mode === 'buffered' ? result.payload.batchItemFailures : [result]
      if (failures.length > 0) throw new Error(`Message failed: ${message.Body}`)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
    }
  }

  await waitUntil(
    async () => {
      await invoke('sweep-executions', {})
      for (const queueUrl of [QUEUE_URL, MODEL_QUEUE_URL]) await processMessages(queueUrl)
      return (await executions.listStale({ now: Number.MAX_SAFE_INTEGER, limit: 1 })).length === 0
    },
    { what: 'the end of all executions', limitMs: 60_000, intervalMs: 100 },
  )
}
