import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { logger } from '../logger.ts'

/** Runs one function for each record and reports those that failed, so that only they come back. */
export async function processRecords(
  event: SQSEvent,
  process: (record: SQSRecord) => Promise<void>,
): Promise<SQSBatchResponse> {
  const results = await Promise.allSettled(event.Records.map(process))
  const batchItemFailures = results.flatMap((result, index) => {
    if (result.status === 'fulfilled') return []
    const itemIdentifier = event.Records[index]?.messageId ?? ''
    const { name, message } = result.reason as Error
    logger.warn('message comes back', { messageId: itemIdentifier, reason: { name, message } })
    return [{ itemIdentifier }]
  })
  return { batchItemFailures }
}
