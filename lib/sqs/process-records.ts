import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { logger } from '../logger.ts'

/** Processes all records and reports those that failed, so that SQS redelivers only these. */
export async function processRecords(
  event: SQSEvent,
  process: (record: SQSRecord) => Promise<void>,
): Promise<SQSBatchResponse> {
  const results = await Promise.allSettled(event.Records.map(process))
  const batchItemFailures = results.flatMap((result, index) => {
    if (result.status === 'fulfilled') return []
    const itemIdentifier = event.Records[index]?.messageId ?? ''
    const { name, message } = result.reason as Error
    logger.warn('message failed, SQS will redeliver it', {
      messageId: itemIdentifier,
      reason: { name, message },
    })
    return [{ itemIdentifier }]
  })
  return { batchItemFailures }
}
