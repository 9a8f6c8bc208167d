import { Duration } from 'aws-cdk-lib'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { MAX_ATTEMPTS } from '../lib/core/limits.ts'
import { settingsOf } from './function-settings.ts'
import { QUEUE } from './queue-settings.ts'

const SECURITY = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }

/** The run queue, and the dead-letter queue for messages that were delivered in vain. */
export function createQueues(scope: Construct): { queue: Queue; deadLetters: Queue } {
  const deadLetters = new Queue(scope, 'DeadLetterQueue', {
    ...SECURITY,
    retentionPeriod: Duration.days(QUEUE.deadLetterDays),
    // Six times what the function may take, as Lambda asks for.
    visibilityTimeout: Duration.seconds(6 * settingsOf('bury-execution').timeoutSeconds),
  })
  const queue = new Queue(scope, 'Queue', {
    ...SECURITY,
    // Lambda refuses a queue whose messages return before their function has timed out. The runner's heartbeat
    // shortens it to the lease's time, so that a killed runner's message does not wait this long.
    visibilityTimeout: Duration.seconds(settingsOf('process-execution').timeoutSeconds),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_ATTEMPTS },
  })
  return { queue, deadLetters }
}
