import type { Change, Condition, Item } from '../../lib/dynamodb/table/expressions.ts'
import type { Key } from '../../lib/dynamodb/table/keys.ts'
import { INDEXES } from '../../lib/dynamodb/table/schema.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import {
  INDEX_NAMES,
  indexWrites,
  RESOURCES,
  type Resource,
  readUnitsOf,
  storedBytesOf,
  writeUnitsOf,
} from './capacity-units.ts'

/** Units that one partition key consumed. */
export type KeyUsage = { resource: Resource; key: string; writes: number; reads: number }

type Bytes = Record<Resource, number>

export type Usage = {
  keys: KeyUsage[]
  items: Item[]
  storedBytes: () => Bytes
}

/**
 * An in-memory table that counts the capacity units of every partition key, in the table and in all indexes. For one
 * writer at a time: of all conditions, only `attribute_not_exists(pk)` is evaluated. `unmetered` puts items of
 * other runs, which count neither as written nor as stored.
 */
export function countingTable(): { table: Table; unmetered: Table; usage: Usage } {
  const items = new Map<string, Item>()
  const otherItems = new Map<string, Item>()
  const find = (key: Item | Key) => items.get(toMapKey(key)) ?? otherItems.get(toMapKey(key))
  const usages = new Map<string, KeyUsage>()

  function count(resource: Resource, key: string, units: { writes?: number; reads?: number }) {
    const name = `${resource} ${key}`
    const usage = usages.get(name) ?? { resource, key, writes: 0, reads: 0 }
    usage.writes += units.writes ?? 0
    usage.reads += units.reads ?? 0
    usages.set(name, usage)
  }

  function write(before: Item | undefined, after: Item): void {
    items.set(toMapKey(after), after)
    const writes = Math.max(writeUnitsOf(after), before ? writeUnitsOf(before) : 0)
    count('table', String(after.pk), { writes })
    for (const index of INDEX_NAMES) {
      const { partitionKey } = INDEXES[index]
      for (const { entry, units } of indexWrites(index, before, after)) {
        count(index, String(entry[partitionKey.name]), { writes: units })
      }
    }
  }

  const table: Pick<Table, 'expiryOf' | 'get' | 'put' | 'update' | 'writeMany'> = {
    expiryOf: () => null,
    async get(key, { consistent }) {
      const item = find(key)
      count('table', key.pk, { reads: readUnitsOf(item) * (consistent ? 1 : 0.5) })
      return item ?? null
    },
    async put(given, condition) {
      const item = withoutUndefined(given)
      const before = find(item)
      const isRejected = before !== undefined && requiresAbsence(condition)
      // A failed condition consumes the write units of the existing item, and nothing in the indexes.
      if (isRejected) count('table', String(item.pk), { writes: writeUnitsOf(before) })
      else write(before, item)
      return !isRejected
    },
    async writeMany(writes) {
      for (const one of writes) if ('put' in one) write(find(one.put), withoutUndefined(one.put))
    },
    async update(key, change) {
      const before = find(key)
      const after = applyChange(before ?? key, change)
      write(before, after)
      return after
    },
  }
  const unmetered: Pick<Table, 'expiryOf' | 'put'> = {
    expiryOf: () => null,
    async put(given) {
      const item = withoutUndefined(given)
      otherItems.set(toMapKey(item), item)
      return true
    },
  }
  return {
    table: table as Table,
    unmetered: unmetered as Table,
    usage: {
      get keys() {
        return [...usages.values()]
      },
      get items() {
        return [...items.values()]
      },
      storedBytes: () => storedBytes([...items.values()]),
    },
  }
}

const toMapKey = (key: Item | Key) => `${key.pk}\n${key.sk}`
const requiresAbsence = (condition?: Condition) =>
  condition?.expression.startsWith('attribute_not_exists(pk)')

function applyChange(before: Item, { set = {}, setOnce = {}, remove = [], add = {} }: Change): Item {
  const after: Item = { ...withoutUndefined(setOnce), ...before, ...withoutUndefined(set) }
  for (const name of remove) delete after[name]
  for (const [name, increment] of Object.entries(add)) after[name] = Number(after[name] ?? 0) + increment
  return after
}

const withoutUndefined = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined))

function storedBytes(items: Item[]): Bytes {
  const sum = (resource: Resource) => items.reduce((bytes, item) => bytes + storedBytesOf(resource, item), 0)
  return Object.fromEntries(RESOURCES.map((resource) => [resource, sum(resource)])) as Bytes
}
