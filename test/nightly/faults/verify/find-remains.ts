import { openStores } from '../../../../lib/dynamodb/open-stores.ts'
import { AUDIT_PREFIX } from '../../../../lib/dynamodb/table/keys.ts'
import type { Item } from '../../../../lib/dynamodb/table/table.ts'
import { runCleanups } from '../../../../lib/engine/maintenance.ts'
import { foldUsage, newFoldMemory } from '../../../../lib/engine/usage/fold.ts'
import { system } from '../../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../../local/emulators/provision.ts'
import { scanTable } from '../../../support/tables/sdk.ts'
import type { Cluster } from '../cluster.ts'
import type { BatchObservation } from '../load/batch-load.ts'
import type { Observation } from '../load/run-client.ts'

const MINUTE_MS = 60_000
/**
 * After a deletion or a crash, nothing of a deleted or unrecorded execution is stored after these minutes: what the
 * events of a deleted one need is kept until they are delivered, or for a week.
 */
const CLEANUP_MINUTES = [
  ...Array.from({ length: 20 }, (_, minute) => minute + 1),
  7 * 24 * 60 + 20,
  7 * 24 * 60 + 30,
]

/** The audit log says what was deleted; a key of a deleted execution is refused with 410 for its 24 hours. */
const MAY_NAME_IDS = new RegExp(`^(?:${AUDIT_PREFIX}|IDEMPOTENCY#)`)

/** Runs folds and cleanups until after a week, and reports what is left of what is deleted or has no record. */
export async function findRemains(
  { table, endpoint }: Cluster,
  observations: Observation[],
  batches: BatchObservation[],
): Promise<string[]> {
  const { executions, usage } = openStores(table)
  const memory = newFoldMemory()
  const startedAt = Date.now()
  for (const minute of CLEANUP_MINUTES) {
    const now = () => startedAt + minute * MINUTE_MS
    // Until it is counted, a deletion leaves a tombstone.
    await foldUsage({ usage, system: { now }, memory })
    await runCleanups({ executions, system: { ...system, now } })
  }
  const items = await scanTable(endpoint, LOCAL_TABLE)
  const recorded = new Set(items.filter(({ sk }) => sk === 'RECORD').map(({ pk }) => pk))
  const unrecorded = items.filter(({ pk }) => String(pk).startsWith('EXEC#') && !recorded.has(pk))
  const deleted = observations.filter(({ isDeleted }) => isDeleted)
  const deletedBatches = batches.filter(({ isDeleted }) => isDeleted)
  const ids = [...deleted.map(({ executionId }) => executionId), ...deletedBatches.map(({ id }) => id)]
  const contents = [
    ...deleted.map(({ run }) => run.marker),
    ...deletedBatches.flatMap(({ batch }) => [batch.marker, ...batch.lines.map(({ customId }) => customId)]),
  ]
  const names = new Set<string | null>([...ids, ...contents])
  const contentsAlone = new Set<string | null>(contents)
  const remaining = items.filter((item) => {
    const forbidden = MAY_NAME_IDS.test(String(item.pk)) ? contentsAlone : names
    return wordsOf(item).some((word) => forbidden.has(word))
  })
  return [
    ...unrecorded.map(({ pk, sk }) => `${pk} ${sk} has no record.`),
    ...remaining.map(({ pk, sk }) => `${pk} ${sk} is left of a deleted execution or batch.`),
  ]
}

/** Ids and markers in the keys and the values of an item, but not in the compressed data of payloads. */
const wordsOf = ({ data: _, ...item }: Item): string[] => JSON.stringify(item).match(/[\w-]+/g) ?? []
