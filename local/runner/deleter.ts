import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'

/** The maximum of SQS. */
const BATCH_SIZE = 10
/** Far below the visibility timeout: no other poller receives a processed message in the meantime. */
const MAX_DELAY_MS = 100

type Options = { client: SQSClient; queueUrl: string; onError: (error: unknown) => void }

/** Deletes messages in batches. One that could not be deleted is redelivered and found to be processed. */
export function createDeleter({ client, queueUrl, onError }: Options) {
  const deleting = new Set<Promise<void>>()
  let waiting: string[] = []
  let timer: NodeJS.Timeout | undefined

  async function deleteBatch(handles: string[]): Promise<void> {
    const Entries = handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }))
    try {
      const { Failed = [] } = await client.send(
        new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }),
      )
      for (const { Message } of Failed) onError(new Error(`SQS did not delete a message: ${Message}`))
    } catch (error) {
      onError(error)
    }
  }

  function startBatch(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const batch = deleteBatch(waiting).finally(() => deleting.delete(batch))
    deleting.add(batch)
    waiting = []
  }

  return {
    delete(receiptHandle: string): void {
      waiting.push(receiptHandle)
      if (waiting.length === BATCH_SIZE) startBatch()
      else timer ??= setTimeout(startBatch, MAX_DELAY_MS)
    },

    /** Deletes what is waiting, and resolves when all requests have ended. */
    async flush(): Promise<void> {
      startBatch()
      await Promise.all(deleting)
    },
  }
}
