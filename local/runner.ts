import type { SQSEvent } from 'aws-lambda'
import { QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../lib/environment.ts'
import { parseRunMessage } from '../lib/sqs/run-queue.ts'
import { collectGarbage } from './collect-garbage.ts'
import { startPoller } from './poller.ts'

/** The runner's process: its own, so that an agent that takes it down takes nothing else down. */
const CONCURRENCY = 16

/** Argument: the address of the dead-letter queue. */
const [deadLetters = ''] = process.argv.slice(2)

const endpoint = requireEnv(SQS_ENDPOINT)
/** Loaded with the first message, as on Lambda: while only sync runs are asked for, this process stays small. */
const handler = async (event: SQSEvent) => {
  const { handler } = await import('../functions/process-execution.ts')
  const result = await handler(event)
  for (const { body } of event.Records) process.send?.({ worked: parseRunMessage(body).executionId })
  return result
}
const bury = async (event: SQSEvent) => (await import('../functions/process-dead-letter.ts')).handler(event)
const onError = (error: unknown) => console.error('The runner could not finish a message:', error)
const pollers = [
  startPoller({ endpoint, queueUrl: requireEnv(QUEUE_URL), handler, concurrency: CONCURRENCY, onError }),
  startPoller({ endpoint, queueUrl: deadLetters, handler: bury, concurrency: 1, onError }),
]

async function stop() {
  await Promise.all(pollers.map((poller) => poller.stop()))
  process.exit(0)
}

// An interrupt from the terminal reaches every process of the group; the service says when to stop.
process.on('SIGINT', () => undefined)
process.once('SIGTERM', stop)
process.once('disconnect', () => process.exit(0))
collectGarbage()
