import { LRUCache } from 'lru-cache'
import { BATCH_DEADLINE_MS, type Batch, type Lane, type LineInput } from '../../core/batch.ts'
import { DAY_MS } from '../../core/limits.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { FeedQueue, RunQueue } from '../../core/ports/queues.ts'
import { readSetting } from '../../environment.ts'
import { type Admit, admission } from '../../limits/admission.ts'
import type { Endings } from '../end-execution.ts'
import type { Engine } from '../engine.ts'
import { suspensionLimit } from '../waiting/suspend.ts'

/**
 * Share of the open executions of an organization, and of the suspended ones, that lines of batches may be: they never
 * make other runs fail.
 */
const SHARE = 0.8

/** Bytes of JSON of the lines that a process keeps: each one of its runs that ends needs another line. */
const MAX_KEPT_BYTES = 8_000_000

/** How long a process may start lines of a batch that another one has stopped. */
const BATCH_TTL_MS = 1_000
const MAX_BATCHES = 1_000
const MAX_LANES = 10_000

const MAX_DAYS = BATCH_DEADLINE_MS / DAY_MS

/** An engine that starts the lines of batches. */
export type BatchEngine = Omit<Engine, 'queue'> & {
  batches: BatchStore
  queue: RunQueue & Pick<FeedQueue, 'feed'>
  admit: Admit
  /** Whether a line that waits may give its lane to another one, which may wait as those of all lanes may. */
  mayHandOver: ReturnType<typeof suspensionLimit>
  /**
   * How long after its acceptance lines of a batch start. Not longer than executions are kept: the execution of a line
   * that another lane has taken would be missing, and the line would start again.
   */
  deadlineMs: number
  blocks: ReturnType<typeof openBlocks>
  recent: LRUCache<string, Batch>
  /** All lanes of a batch as they were a moment ago, for those that look for lines of others. */
  listed: LRUCache<string, Lane[], Batch>
  /** Lanes as this process has written them, by batch and number. Another one may have written them since. */
  lanes: LRUCache<string, Lane>
}

/** To end a line, after which the next one does not follow by itself. */
export const endingsOf = ({ executions, limits, queue, steps, system }: BatchEngine): Endings => ({
  executions,
  steps,
  system,
  ...(limits && { limits }),
  queue: { send: (message) => queue.send(message) },
})

/** With the limits of the environment. */
export const openBatchEngine = (
  parts: Omit<BatchEngine, 'admit' | 'mayHandOver' | 'deadlineMs' | 'blocks' | 'recent' | 'listed' | 'lanes'>,
): BatchEngine => ({
  ...parts,
  admit: admission(parts, Math.ceil(readSetting('maxOpenExecutions') * SHARE)),
  mayHandOver: suspensionLimit(parts, Math.ceil(readSetting('maxSuspendedExecutions') * SHARE)),
  deadlineMs: Math.min(readSetting('executionRetentionDays') ?? MAX_DAYS, MAX_DAYS) * DAY_MS,
  blocks: openBlocks(parts.batches),
  recent: new LRUCache({ max: MAX_BATCHES, ttl: BATCH_TTL_MS }),
  listed: new LRUCache({
    max: MAX_BATCHES,
    ttl: BATCH_TTL_MS,
    fetchMethod: (_id, _stale, { context: batch }) => parts.batches.listLanes({ batch }),
  }),
  lanes: new LRUCache({ max: MAX_LANES }),
})

/** Blocks of lines, by batch and number. */
const openBlocks = (batches: BatchStore) =>
  new LRUCache<string, LineInput[], { batch: Batch; block: number }>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (lines) => JSON.stringify(lines).length,
    fetchMethod: (_key, _stale, { context }) => batches.readBlock(context),
  })

/** As it was at most `BATCH_TTL_MS` ago; null if there is none with lines that have not ended. */
export async function readOpenBatch(
  { batches, recent }: BatchEngine,
  { id, organizationId }: Pick<Batch, 'id' | 'organizationId'>,
): Promise<Batch | null> {
  const batch = recent.get(id) ?? (await batches.get({ organizationId, id }))
  if (batch?.organizationId !== organizationId || batch.status === 'ENDED') return null
  if (!recent.has(id)) recent.set(id, batch)
  return batch
}
