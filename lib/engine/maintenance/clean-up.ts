import type { ExecutionStore, System } from '../../core/ports.ts'

type Params = { executions: Pick<ExecutionStore, 'listCleanups' | 'cleanUp'>; system: System }

/** Cleanups per batch, and batches per run; the next run follows within a minute. */
const BATCH_SIZE = 200
const MAX_BATCHES = 25

/**
 * Completes deletions, and deletes payloads that have no record. A failure does not stop the other cleanups; the next
 * run lists them again. Returns the number of items checked.
 * @throws an AggregateError at the end if some of them failed
 */
export async function runCleanups({ executions, system }: Params): Promise<number> {
  const errors: unknown[] = []
  let checked = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const now = system.now()
    const cleanups = await executions.listCleanups({ now, limit: BATCH_SIZE })
    const results = await Promise.allSettled(cleanups.map((cleanup) => executions.cleanUp({ cleanup, now })))
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    errors.push(...failed)
    checked += cleanups.length - failed.length
    // Without progress, the next batch would list the same items.
    if (cleanups.length < BATCH_SIZE || failed.length === cleanups.length) break
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} cleanups failed.`)
  return checked
}
