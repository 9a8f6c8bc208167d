import { SQSClient } from '@aws-sdk/client-sqs'
import { handler } from '../../functions/process-execution.ts'
import { QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../../lib/environment.ts'
import { sqsConfig } from '../../lib/sqs/run-queue.ts'
import { startPoller } from './poller.ts'

/** The runner's process: its own, so that an agent that takes it down takes nothing else down. */
const CONCURRENCY = 16

const poller = startPoller({
  client: new SQSClient(sqsConfig(process.env[SQS_ENDPOINT])),
  queueUrl: requireEnv(QUEUE_URL),
  handler,
  concurrency: CONCURRENCY,
  onError: (error) => console.error('The runner could not finish a message:', error),
})

async function stop() {
  await poller.stop()
  process.exit(0)
}

// An interrupt from the terminal reaches every process of the group; the service says when to stop.
process.on('SIGINT', () => undefined)
process.once('SIGTERM', stop)
process.once('disconnect', () => process.exit(0))
process.send?.('ready')
