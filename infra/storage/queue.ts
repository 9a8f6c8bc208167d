import { Duration } from 'aws-cdk-lib'
import type { Key } from 'aws-cdk-lib/aws-kms'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { settingsOf } from '../functions/function-settings.ts'
import { QUEUE } from './queue-settings.ts'

/** The run queue, and the dead-letter queue for messages that were delivered in vain. */
export function createQueues(scope: Construct, key: Key | null): { queue: Queue; deadLetters: Queue } {
  const security = {
    enforceSSL: true,
    ...(key
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
      : { encryption: QueueEncryption.SQS_MANAGED }),
  }
  const deadLetters = new Queue(scope, 'DeadLetterQueue', {
    ...security,
    retentionPeriod: Duration.days(QUEUE.deadLetterDays),
    // Six times what the function may take, as Lambda asks for.
    visibilityTimeout: Duration.seconds(6 * settingsOf('process-dead-letter').timeoutSeconds),
  })
  const queue = new Queue(scope, 'Queue', {
    ...security,
    // Lambda refuses a queue whose messages return before their function has timed out. The runner's heartbeat
    // shortens it to the lease's time, so that a killed runner's message does not wait this long.
    visibilityTimeout: Duration.seconds(settingsOf('process-execution').timeoutSeconds),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_ATTEMPTS },
  })
  return { queue, deadLetters }
}
