import pRetry from 'p-retry'
import { Unavailable } from '../../core/errors.ts'

/** Takes 4 s at most, the requests themselves excluded. */
const RETRIES = { retries: 6, minTimeout: 50, maxTimeout: 1_000, randomize: true }

/**
 * Sends any number of entries in batches of up to `size`, all at once. `send` returns what DynamoDB left unprocessed, which is
 * sent again with exponential backoff.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html#Programming.Errors.BatchOperations
 * @throws Unavailable when entries are still unprocessed after the last retry
 */
export async function sendInBatches<T>(
  entries: T[],
  size: number,
  send: (batch: T[]) => Promise<T[]>,
): Promise<void> {
  const count = Math.ceil(entries.length / size)
  const batches = Array.from({ length: count }, (_, i) => entries.slice(i * size, (i + 1) * size))
  await Promise.all(batches.map((batch) => sendBatch(batch, send)))
}

async function sendBatch<T>(batch: T[], send: (batch: T[]) => Promise<T[]>): Promise<void> {
  let rest = batch
  const attempt = async () => {
    rest = await send(rest)
    if (rest.length > 0) throw new UnprocessedEntries(`${rest.length} entries are unprocessed.`)
  }
  try {
    await pRetry(attempt, { ...RETRIES, shouldRetry: ({ error }) => error instanceof UnprocessedEntries })
  } catch (error) {
    throw error instanceof UnprocessedEntries ? new Unavailable(error) : error
  }
}

class UnprocessedEntries extends Error {}
