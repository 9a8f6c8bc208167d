import { type AwsClient, awsClient } from '../aws/aws-client.ts'
import type { Identity } from '../aws/identity.ts'

const MAX_ATTEMPTS = 3
/** No call may hang: the longest poll takes 20 s. */
const TIMEOUT_MS = 25_000

/** Operations by https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html */
export const sqsClient = (identity: Identity): AwsClient =>
  awsClient({
    service: 'sqs',
    targetPrefix: 'AmazonSQS',
    identity,
    maxAttempts: MAX_ATTEMPTS,
    timeoutMs: TIMEOUT_MS,
  })
