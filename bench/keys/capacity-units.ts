import type { Item } from '../../lib/dynamodb/table/expressions.ts'
import { INDEXES, type IndexName, TABLE } from '../../lib/dynamodb/table/schema.ts'

/** The table or one of its indexes; each has separate partitions and capacity. */
export type Resource = 'table' | IndexName

export const INDEX_NAMES = Object.keys(INDEXES) as IndexName[]
export const RESOURCES: Resource[] = ['table', ...INDEX_NAMES]

const WRITE_UNIT_BYTES = 1_024
const READ_UNIT_BYTES = 4_096
/**
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html: per stored item and
 * index entry.
 */
const OVERHEAD_BYTES = 100

/** Write units of an item or an index entry. */
export const writeUnitsOf = (item: Item): number => Math.max(1, Math.ceil(sizeOf(item) / WRITE_UNIT_BYTES))

/** Read units of a strongly consistent read, also of one that finds nothing. */
export const readUnitsOf = (item: Item | undefined): number =>
  item ? Math.max(1, Math.ceil(sizeOf(item) / READ_UNIT_BYTES)) : 1

/** Billed storage of an item in the table or an index; 0 when the index has no entry for it. */
export function storedBytesOf(resource: Resource, item: Item): number {
  const stored = resource === 'table' ? item : entryOf(resource, item)
  return stored ? sizeOf(stored) + OVERHEAD_BYTES : 0
}

const ATTRIBUTES = Object.fromEntries(
  Object.entries(INDEXES).map(([index, { partitionKey, sortKey, projection }]) => [
    index,
    [TABLE.partitionKey, TABLE.sortKey, partitionKey.name, sortKey.name, ...projection],
  ]),
) as Record<IndexName, string[]>

/** The index entry of an item; null when the item lacks one of the index's keys. */
function entryOf(index: IndexName, item: Item | undefined): Item | null {
  const { partitionKey, sortKey } = INDEXES[index]
  if (item?.[partitionKey.name] === undefined || item[sortKey.name] === undefined) return null
  const entry: Item = {}
  for (const name of ATTRIBUTES[index]) if (item[name] !== undefined) entry[name] = item[name]
  return entry
}

export type IndexWrite = { entry: Item; units: number }

/**
 * The index writes that a change of an item causes. A changed key deletes an entry and puts another; a change of
 * attributes that the index does not project writes nothing.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
 */
export function indexWrites(index: IndexName, before: Item | undefined, after: Item): IndexWrite[] {
  if (before && ATTRIBUTES[index].every((name) => before[name] === after[name])) return []
  const { partitionKey, sortKey } = INDEXES[index]
  const [from, to] = [entryOf(index, before), entryOf(index, after)]
  const write = (entry: Item): IndexWrite => ({ entry, units: writeUnitsOf(entry) })
  if (!from || !to) return [from, to].flatMap((entry) => (entry ? [write(entry)] : []))
  const isMoved = [partitionKey, sortKey].some(({ name }) => from[name] !== to[name])
  return isMoved ? [write(from), write(to)] : [write(to)]
}

/** Items are never changed in place, so their sizes can be kept. */
const sizes = new WeakMap<Item, number>()

function sizeOf(item: Item): number {
  const known = sizes.get(item)
  if (known !== undefined) return known
  const size = bytesOf(item)
  sizes.set(item, size)
  return size
}

/** Names and values of the attributes. */
const bytesOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + bytesOfValue(value), 0)

/**
 * Lists and maps have 3 bytes of overhead, and 1 for each element.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
function bytesOfValue(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.length
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + bytesOfValue(one) + 1, 3)
  if (typeof value === 'object' && value !== null) {
    const present = Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined))
    return bytesOf(present) + Object.keys(present).length + 3
  }
  return 1
}
