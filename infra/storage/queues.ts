import { Duration } from 'aws-cdk-lib'
import type { Key } from 'aws-cdk-lib/aws-kms'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { getFunctionSettings } from '../functions/function-settings.ts'

/** The maximum retention period of SQS. */
const DEAD_LETTER_RETENTION = Duration.days(14)

/** Creates the run queue and its dead-letter queue. */
export function createQueues(scope: Construct, key: Key | null): { queue: Queue; deadLetterQueue: Queue } {
  const security = {
    enforceSSL: true,
    ...(key
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
      : { encryption: QueueEncryption.SQS_MANAGED }),
  }
  const deadLetterQueue = new Queue(scope, 'DeadLetterQueue', {
    ...security,
    retentionPeriod: DEAD_LETTER_RETENTION,
    // Six times the function timeout, as AWS recommends for event source mappings.
    visibilityTimeout: Duration.seconds(6 * getFunctionSettings('process-dead-letter').timeoutSeconds),
  })
  const queue = new Queue(scope, 'Queue', {
    ...security,
    // Lambda requires at least the function timeout. For a run of more than a second, the runner shortens it to slightly more than
    // the lease, so that the message of a dead worker is redelivered earlier.
    visibilityTimeout: Duration.seconds(getFunctionSettings('process-execution').timeoutSeconds),
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_ATTEMPTS },
  })
  return { queue, deadLetterQueue }
}
