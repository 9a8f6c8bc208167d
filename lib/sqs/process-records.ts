import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { logger } from '../logger.ts'

/**
 * Processes all records and reports those that failed, so that SQS redelivers only these.
 * @param remove deletes the message of a record that was processed while others are not: Lambda deletes those of a
 * batch when all of it has ended, if the process lives that long
 */
export async function processRecords(
  event: SQSEvent,
  process: (record: SQSRecord) => Promise<void>,
  remove?: (record: SQSRecord) => Promise<void>,
): Promise<SQSBatchResponse> {
  let running = event.Records.length
  const processOne = async (record: SQSRecord) => {
    await process(record).finally(() => running--)
    if (running > 0)
      await remove?.(record).catch(({ name, message }: Error) => {
        logger.warn('message not deleted', { messageId: record.messageId, reason: { name, message } })
      })
  }
  const results = await Promise.allSettled(event.Records.map(processOne))
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
