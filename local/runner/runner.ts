/**
 * The runner's process, started with the URL of the dead-letter queue as argument, and `deliver` if there may be events
 * to deliver. An agent that crashes it crashes nothing else.
 */
import type { SQSEvent } from 'aws-lambda'
import { DELIVERY_QUEUE_URL, QUEUE_URL, requireEnv, SQS_ENDPOINT } from '../../lib/environment.ts'
import { deliveryGroupOf, onDeliveryEnqueued, parseDeliveryMessage } from '../../lib/sqs/delivery-queue.ts'
import { parseRunMessage } from '../../lib/sqs/run-queue.ts'
import { afterStart } from '../after-start.ts'
import { startPoller } from './poller.ts'

/** Executions at the same time, 32 of one organization. An agent that never ends keeps one for its worker's time. */
const CONCURRENCY = 40

/** Events are sent at the same time to all destinations: they wait for others, not for this machine. */
const DELIVERIES = 200
/** Deliveries may take this long after SIGTERM. Those of receivers that do not answer are begun again. */
const LAST_DELIVERIES_MS = 2_000

/** As on Lambda: a run that is still going on then is released and continued, with its attempts counted. */
const MAX_INVOCATION_MS = 900_000

/** After SIGTERM no further step begins. One that takes longer than this is abandoned; the next start continues it. */
const LAST_STEP_MS = 1_500
const shutdown = { drain: new AbortController(), stop: new AbortController() }

const [deadLetters = '', deliver] = process.argv.slice(2)
const endpoint = requireEnv(SQS_ENDPOINT)

/** Loaded while the first message is received: the runner starts when there is one. */
const loading = import('../../functions/process-execution.ts')

/** Reports each processed execution to the service. */
const processExecution = async (event: SQSEvent) => {
  const { handler } = await loading
  const endsAt = Date.now() + MAX_INVOCATION_MS
  const response = await handler(event, {
    getRemainingTimeInMillis: () => endsAt - Date.now(),
    shutdown: { drain: shutdown.drain.signal, stop: shutdown.stop.signal },
  })
  for (const { body } of event.Records) {
    const message = parseRunMessage(body)
    if ('executionId' in message) process.send?.({ processed: message.executionId })
  }
  return response
}
const processDeadLetter = async (event: SQSEvent) => {
  const { handler } = await import('../../functions/process-dead-letter.ts')
  return handler(event)
}
const deliverEvents = async (event: SQSEvent) => {
  const { handler } = await import('../../functions/deliver-events.ts')
  return handler(event)
}
const onError = (error: unknown) => console.error('The runner failed to process a message:', error)

const pollers = [
  startPoller({
    endpoint,
    queueUrl: requireEnv(QUEUE_URL),
    handler: processExecution,
    concurrency: CONCURRENCY,
    onError,
  }),
  startPoller({ endpoint, queueUrl: deadLetters, handler: processDeadLetter, concurrency: 1, onError }),
]

let deliveries: ReturnType<typeof startPoller> | undefined
let isStopping = false

/** Not before the first event: most services have no destinations. */
function startDeliveries(): void {
  if (isStopping || deliveries) return
  // The next runner is started for them.
  process.send?.('delivers')
  deliveries = startPoller({
    endpoint,
    queueUrl: requireEnv(DELIVERY_QUEUE_URL),
    handler: deliverEvents,
    concurrency: DELIVERIES,
    onError,
    identify(body) {
      const message = parseDeliveryMessage(body)
      const { subject, destinationId, revision } = message
      return { id: `${subject.id} ${revision} ${destinationId}`, group: deliveryGroupOf(message) }
    },
  })
}
if (deliver) startDeliveries()
onDeliveryEnqueued(startDeliveries)
process.on('message', startDeliveries)

async function stop() {
  isStopping = true
  shutdown.drain.abort()
  setTimeout(() => shutdown.stop.abort(), LAST_STEP_MS)
  // Runs that end meanwhile have their events delivered after the next start.
  await Promise.all([...pollers.map((poller) => poller.stop()), deliveries?.stop(LAST_DELIVERIES_MS)])
  process.exit(0)
}

// Ctrl-C sends SIGINT to every process of the terminal's group. The service decides when the runner stops.
process.on('SIGINT', () => undefined)
process.once('SIGTERM', stop)
process.once('disconnect', () => process.exit(0))
afterStart()
