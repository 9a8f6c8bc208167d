import { CANCELLED } from '../../core/execution-errors.ts'
import { CLEANUP_DELAY_MS } from '../../core/lease-times.ts'
import { DAY_MS } from '../../core/limits.ts'
import type { Cleanup, ExecutionStore } from '../../core/ports/executions.ts'
import { withLost } from '../../core/step.ts'
import { endOfWait } from '../../core/suspension.ts'
import { belongsTo } from '../cache-stores.ts'
import { deliveryStore } from '../delivery-store.ts'
import {
  CLEANUP_SHARDS,
  cacheKey,
  childIdOf,
  childKey,
  cleanupShard,
  deletedKey,
  executionIdOf,
  executionKey,
  holderOf,
  idempotencyKey,
  isExecutionRecord,
  isOfEvents,
  isOutboxShard,
  type Key,
  outboxKeys,
  payloadNameOf,
  payloadPrefix,
} from '../table/keys.ts'
import { cleanupAttributes } from '../table/payload.ts'
import { USAGE_ATTRIBUTES } from '../table/schema.ts'
import { type Condition, type Item, NOT_EXISTS, pick, queryPages, type Table } from '../table/table.ts'
import { type ExecutionItem, parseError, refersTo, SUMMARY_ATTRIBUTES, storeError } from './execution-item.ts'
import { listDueItems } from './open-executions.ts'
import { stepStore } from './step-store.ts'

/** No content, but what is needed to find the rest of the execution, and to count it. */
const KEPT_ATTRIBUTES = [
  'organizationId',
  'parentExecutionId',
  'cache',
  'idempotencyId',
  'usageShard',
  'usageAt',
  ...USAGE_ATTRIBUTES,
] as const satisfies (keyof ExecutionItem)[]

/** What remains of a deleted execution until a last check. */
type Tombstone = Pick<ExecutionItem, (typeof KEPT_ATTRIBUTES)[number]> & {
  deleted: true
  openUntil: number
  /** Everything was deleted once; only late writers can have added something. */
  purged?: true
  /** Until when what its events need is beside it, unless they are delivered before. */
  eventsUntil?: number
}

/** How deletions see to it that what was deleted is counted. */
export type Accounting = {
  /** Ends an open execution, so that it has an entry in the usage index. */
  end: ExecutionStore['end']
  /** Whether the usage of what became final at this time (milliseconds since the epoch) has been added up. */
  isCounted: (at: number) => Promise<boolean>
}

/** With the time as it goes on: a deletion can take minutes. */
type Timed = Accounting & { clock: () => number }

/** @param now the time of the call */
function timed(accounting: Accounting, now: number): Timed {
  const since = performance.now()
  return { ...accounting, clock: () => Math.round(now + performance.now() - since) }
}

/**
 * Replaces a final execution by a tombstone, which no reader sees and no writer changes, and deletes everything else.
 * A deletion that is interrupted after the first write is completed by the cleanup.
 */
export async function deleteExecution(
  table: Table,
  { organizationId, id, now }: Parameters<ExecutionStore['delete']>[0],
  accounting: Accounting,
): ReturnType<ExecutionStore['delete']> {
  const record = await table.get(executionKey(id), { consistent: true })
  if (record?.organizationId !== organizationId || record.purged) return 'missing'
  if (record.status === 'IN_PROGRESS') return 'open'
  // Its parent is resumed by what this would delete.
  const isListed = record.openUntil !== undefined && !isOutboxShard(record.openShard as string | undefined)
  if (record.parentExecutionId && isListed && !record.deleted) return 'awaited'
  const events = record.deleted ? {} : await keepEvents(table, record as Item & ExecutionItem, now)
  const tombstone =
    (!record.deleted && (await putTombstone(table, id, { ...record, ...events }, now, isFinalRecord))) ||
    // Deleted at the same time, or the response to the write was lost.
    (await table.get(executionKey(id), { consistent: true }))
  if (tombstone?.deleted) await completeDeletion(table, id, tombstone, now, timed(accounting, now))
  return 'deleted'
}

/** Members of a summary that are content or secrets, or of no use to an event. */
const CONTENT = ['keys', 'lastError', 'judgement', 'warnings', 'callbackSecret', 'cache', 'options']
const EVENT_ATTRIBUTES = SUMMARY_ATTRIBUTES.filter((name) => !CONTENT.includes(name))

/** The sweeper gives up a message after 3 days, and the attempts of a delivery take as long. */
const EVENTS_MS = 6 * DAY_MS

/** Keeps what events need that may not be delivered, without content, and enters it into the outbox. */
async function keepEvents(
  table: Table,
  record: Item & ExecutionItem,
  now: number,
): Promise<Pick<Tombstone, 'eventsUntil'>> {
  const { id, openShard, waitedMs } = record
  // Its end and its waits are no events.
  if ((!openShard && !waitedMs) || (await eventsDueAt(table, id)) === null) return {}
  const code = parseError(record.error, id)?.code
  await table.put({
    ...pick(record, EVENT_ATTRIBUTES),
    // Says which event it is.
    error: code && storeError({ code, message: '' }),
    ...deletedKey(id),
    ...outboxKeys(id, now),
  })
  return { eventsUntil: now + EVENTS_MS }
}

/** When the next attempt of a delivery is due, 0 if some events have none yet; null if all are over. */
async function eventsDueAt(table: Table, id: string): Promise<number | null> {
  const subject = { kind: 'execution', id } as const
  const { listOf, findHandled } = deliveryStore(table)
  const handled = await findHandled({ subjects: [subject] })
  const times = (await listOf(subject)).flatMap(({ nextAttemptAt }) => nextAttemptAt ?? [])
  if (times.length > 0) return Math.max(...times.map((time) => Date.parse(time)))
  return handled.size > 0 ? null : 0
}

/** Leaves a tombstone for an execution that was never created: it refuses a process that is about to create it. */
export async function refuse(
  table: Table,
  { organizationId, id, now, idempotencyId }: Parameters<ExecutionStore['refuse']>[0],
): Promise<boolean> {
  if (!(await putTombstone(table, id, { organizationId }, now, NOT_EXISTS))) return false
  if (idempotencyId) await table.delete(idempotencyKey(idempotencyId), belongsTo(id))
  return true
}

/** Deletions of children at the same time; each of them has as many for its own children. */
const PARALLEL_CHILDREN = 4

/** Deletes executions that tool calls have started: they may be open, or not exist yet. */
async function deleteChildren(
  table: Table,
  { ids, ...params }: { ids: string[]; organizationId: string; now: number },
  accounting: Timed,
): Promise<void> {
  const waiting = [...ids]
  const deleteInTurn = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
      await deleteChild(table, { id, ...params }, accounting)
  }
  await Promise.all(Array.from({ length: PARALLEL_CHILDREN }, deleteInTurn))
}

async function deleteChild(
  table: Table,
  { id, organizationId, now }: { id: string; organizationId: string; now: number },
  accounting: Timed,
): Promise<void> {
  for (;;) {
    const record = await table.get(executionKey(id), { consistent: true })
    if (record?.purged) return
    if (record?.status === 'IN_PROGRESS') {
      await endOpen(table, record as Item & ExecutionItem, accounting)
      continue
    }
    const condition = record ? isFinalRecord : NOT_EXISTS
    const tombstone = record?.deleted
      ? record
      : await putTombstone(table, id, record ?? { organizationId }, now, condition)
    // Null if it was created or deleted since it was read.
    if (tombstone) return completeDeletion(table, id, tombstone, now, accounting)
  }
}

/** Does nothing if it was woken, or has ended, since it was read. */
async function endOpen(table: Table, { id, organizationId }: ExecutionItem, { end, clock }: Timed) {
  const steps = stepStore(table)
  const recorded = await steps.close({ executionId: id })
  // Read when no step can be added any more.
  const record = await table.get(executionKey(id), { consistent: true })
  if (record?.status !== 'IN_PROGRESS') return
  const { suspension = null, startedAt = null, waitedMs = 0, lostSteps = [] } = record as ExecutionItem
  const progress = await withLost(steps, id, recorded, lostSteps)
  const finishedAt = new Date(clock()).toISOString()
  const wait = endOfWait({ suspension, startedAt, waitedMs }, finishedAt)
  await end({ organizationId, id, error: CANCELLED, finishedAt, progress, wait })
}

/** Null if the condition failed. */
async function putTombstone(
  table: Table,
  id: string,
  record: Partial<ExecutionItem & Tombstone>,
  now: number,
  condition: Condition,
): Promise<Item | null> {
  const kept = pick(record, [...KEPT_ATTRIBUTES, 'eventsUntil'])
  const tombstone = { ...executionKey(id), ...kept, deleted: true, ...cleanupAttributes(id, now) }
  return (await table.put(tombstone, condition)) ? tombstone : null
}

/**
 * Deletes what belongs to a deleted execution, its children included, except for its tombstone. That stays for a second
 * check, because a worker may have been about to write.
 */
async function completeDeletion(
  table: Table,
  id: string,
  tombstone: Item,
  now: number,
  accounting: Timed,
): Promise<void> {
  const { organizationId, parentExecutionId, cache, idempotencyId, purged, openUntil, usageAt, eventsUntil } =
    tombstone as Tombstone
  const eventsAt = eventsUntil && eventsUntil > now ? await eventsDueAt(table, id) : null
  if (cache) await table.delete(cacheKey(cache.key), belongsTo(id))
  // The key stays until it expires: the same request must not run again.
  if (idempotencyId)
    await table.update(idempotencyKey(idempotencyId), { set: { isDeleted: true }, condition: belongsTo(id) })
  if (parentExecutionId) await table.delete(childKey(parentExecutionId, id))
  // The end of the journal refuses steps of a worker that has not noticed yet.
  const isKept = (sk: string) => sk === executionKey(id).sk || (eventsAt !== null && isOfEvents(sk))
  const isIncluded = ({ sk, isEnd }: Item) => !isKept(String(sk)) && !isEnd
  const deleted = await deleteItems(table, { pk: executionKey(id).pk }, isIncluded, (keys) =>
    deleteChildren(
      table,
      { ids: keys.flatMap((key) => childIdOf(key) ?? []), organizationId, now },
      accounting,
    ),
  )
  const condition = isDue(openUntil)
  const isPurged = purged && deleted === 0
  if (isPurged && openUntil > now) return
  if (isPurged && eventsAt === null && (usageAt === undefined || (await accounting.isCounted(usageAt)))) {
    await deleteItems(table, { pk: executionKey(id).pk }, ({ isEnd }) => isEnd === true)
    await table.delete(executionKey(id), condition)
    return
  }
  const checkAt = Math.max(now, (isPurged && eventsAt) || 0) + CLEANUP_DELAY_MS
  const set = { purged: true, ...cleanupAttributes(id, checkAt) }
  await table.update(executionKey(id), { set, condition })
}

const CLEANUP_PARTITIONS = Array.from({ length: CLEANUP_SHARDS }, (_, shard) => cleanupShard(shard))

export async function listCleanups(table: Table, params: { now: number; limit: number }): Promise<Cleanup[]> {
  return (await listDueItems(table, CLEANUP_PARTITIONS, params)).map(toCleanup)
}

const toCleanup = ({ pk, sk, openUntil }: Item): Cleanup => ({
  executionId: executionIdOf(String(pk)),
  item: String(sk),
  dueAt: Number(openUntil),
})

/**
 * Checks a payload or a deletion.
 *
 * A payload that its item refers to stays. Any other one is deleted when nothing can refer to it any more: an open
 * execution is checked again later; a final one refuses every worker; feedback that was about to refer to the payload
 * fails its condition on `revision`; a tombstone refuses the record that was about to be created.
 */
export async function cleanUp(
  table: Table,
  { executionId: id, item, dueAt: due }: Cleanup,
  now: number,
  uses: Accounting,
): Promise<void> {
  const accounting = timed(uses, now)
  const key = executionKey(id)
  const record = await table.get(key, { consistent: true })
  if (record?.deleted) return completeDeletion(table, id, record, now, accounting)
  const check: Key = { pk: key.pk, sk: item }
  if (isExecutionRecord(check)) return
  if (!record) {
    const tombstone = await putTombstone(table, id, {}, now, NOT_EXISTS)
    if (tombstone) await completeDeletion(table, id, tombstone, now, accounting)
    return
  }
  const name = payloadNameOf(check)
  const holder = holderOf(id, name)
  const referrer = isExecutionRecord(holder) ? record : await table.get(holder, { consistent: true })
  if (refersTo(referrer, name)) return table.delete(check, isDue(due))
  if (record.status === 'IN_PROGRESS') {
    const { suspension } = record as ExecutionItem
    // While it is suspended, nothing changes.
    const at = Math.max(suspension?.until ?? now, now)
    await table.update(check, {
      set: cleanupAttributes(id, at + CLEANUP_DELAY_MS / 2),
      condition: isDue(due),
    })
    return
  }
  const fenced = await table.update(key, { add: { revision: 1 }, condition: isStored })
  if (!fenced || refersTo(fenced, name)) return
  await deleteItems(table, { pk: key.pk, prefix: payloadPrefix(name) })
  await table.delete(check, isDue(due))
}

/** An item of a deleted execution must not be created again by an update. */
export const isStored: Condition = {
  expression: 'attribute_exists(pk) AND attribute_not_exists(#deleted)',
  names: ['deleted'],
}

/** Writes of people and scorers replace one another in order, so that each deletes what it has replaced. */
export const isAtRevision = (revision: number): Condition => ({
  expression: `${isStored.expression} AND ${revision === 0 ? 'attribute_not_exists(#revision)' : '#revision = :current'}`,
  names: ['deleted', 'revision'],
  values: { ...(revision > 0 && { current: revision }) },
})

const isFinalRecord: Condition = {
  expression: `${isStored.expression} AND #status <> :open`,
  names: ['deleted', 'status'],
  values: { open: 'IN_PROGRESS' },
}

/** Only if the check is still due at the time at which it was listed. */
const isDue = (ms: number): Condition => ({
  expression: '#openUntil = :dueAt',
  names: ['openUntil'],
  values: { dueAt: ms },
})

/** Returns the number of deleted items. `before` is called with the keys of each page before they are deleted. */
export async function deleteItems(
  table: Table,
  { pk, prefix }: { pk: string; prefix?: string },
  isIncluded: (item: Item) => boolean = () => true,
  before: (keys: Key[]) => Promise<void> = async () => undefined,
): Promise<number> {
  const pages = queryPages(table, {
    KeyConditionExpression: prefix ? 'pk = :pk AND begins_with(sk, :prefix)' : 'pk = :pk',
    ProjectionExpression: 'pk, sk, isEnd',
    ExpressionAttributeValues: { ':pk': pk, ...(prefix && { ':prefix': prefix }) },
    ConsistentRead: true,
  })
  let count = 0
  for await (const items of pages) {
    const keys = items.filter(isIncluded).map(({ pk, sk }) => ({ pk, sk }) as Key)
    await before(keys)
    await table.writeMany(keys.map((key) => ({ delete: key })))
    count += keys.length
  }
  return count
}
