import { type AwsClient, awsClient } from '../aws/aws-client.ts'
import type { Identity } from '../aws/identity.ts'

/** No call may hang: one that gets no answer is sent again, and fails when that was in vain. */
const MAX_ATTEMPTS = 5
const TIMEOUT_MS = 8_000

/** Operations by https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html */
export function dynamodbClient(
  identity: Identity,
  { maxAttempts, timeoutMs } = { maxAttempts: MAX_ATTEMPTS, timeoutMs: TIMEOUT_MS },
): AwsClient {
  return awsClient({
    service: 'dynamodb',
    targetPrefix: 'DynamoDB_20120810',
    identity,
    maxAttempts,
    timeoutMs,
  })
}
