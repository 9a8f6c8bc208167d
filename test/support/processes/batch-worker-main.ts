/**
 * A runner's process with one invocation, as Lambda's event source mapping makes it: receives a batch, calls the
 * function, and deletes the messages that it does not report. Arguments: the URL of the queue, its name and the number
 * of messages to wait for. Sends `{receiveCounts}` to its parent before the call, and after it `{failures}`, the most
 * memory that the process has had and the processor time that the call has taken.
 */
import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { handler } from '../../../functions/process-execution.ts'
import { requireEnv, SQS_ENDPOINT } from '../../../lib/environment.ts'
import { toRecord } from '../../../local/runner/poller.ts'
import { sdkConfig } from '../tables/sdk.ts'

const [QueueUrl = '', queueName = '', size = '1'] = process.argv.slice(2)
const client = new SQSClient(sdkConfig(requireEnv(SQS_ENDPOINT)))

const messages: Message[] = []
while (messages.length < Number(size)) {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: Number(size) - messages.length,
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ['All'],
    }),
  )
  messages.push(...Messages)
}
process.send?.({ receiveCounts: messages.map(({ Attributes }) => Attributes?.ApproximateReceiveCount) })

const before = process.cpuUsage()
const eventSourceARN = `arn:aws:sqs:local:000000000000:${queueName}`
const Records = messages.map((message) => ({ ...toRecord(message), eventSourceARN }))
const { batchItemFailures } = await handler({ Records }, { getRemainingTimeInMillis: () => 900_000 })
const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
for (const { MessageId = '', ReceiptHandle } of messages)
  if (!failed.has(MessageId)) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
const { user, system } = process.cpuUsage(before)
process.send?.({
  failures: failed.size,
  peakMiB: process.resourceUsage().maxRSS / 1024,
  processorSeconds: (user + system) / 1e6,
})
process.disconnect?.()
