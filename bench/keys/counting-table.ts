import type { Change, Condition, Item } from '../../lib/dynamodb/expressions.ts'
import type { Key } from '../../lib/dynamodb/keys.ts'
import { INDEXES, type IndexName } from '../../lib/dynamodb/schema.ts'
import type { Table } from '../../lib/dynamodb/table.ts'
import { entryOf, indexWrites, PLACES, type Place, readUnitsOf, sizeOf, writeUnitsOf } from './units.ts'

/** Units on one partition key, from items whose id ends in one byte (two hex digits), which their shard follows from. */
export type Load = { place: Place; key: string; byte: string; writes: number; reads: number }

export type Counted = {
  loads: Load[]
  /** Sort keys of the items and entries that were written, in the order of time. */
  sorts: Record<Place, string[]>
  /** Of everything there is now. */
  storedBytes: () => Record<Place, number>
  /** Of the last entry of each index: they are all about as large. */
  entryBytes: Partial<Record<Place, number>>
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html: of each item and entry. */
const OVERHEAD_BYTES = 100

/**
 * The table in memory, for one writer at a time: counts the units that each partition key takes, of the table and of
 * every index. Conditions hold, but for those that demand that there be no item yet.
 */
export function countingTable(): { table: Table; counted: () => Counted } {
  const items = new Map<string, Item>()
  const loads = new Map<string, Load>()
  const sorts = Object.fromEntries(PLACES.map((place) => [place, [] as string[]])) as Counted['sorts']
  const entryBytes: Counted['entryBytes'] = {}

  function note(place: Place, key: string, item: Item, units: Partial<Pick<Load, 'writes' | 'reads'>>): void {
    const byte = String(item.pk).slice(-2)
    const name = `${place} ${key} ${byte}`
    const load = loads.get(name) ?? { place, key, byte, writes: 0, reads: 0 }
    load.writes += units.writes ?? 0
    load.reads += units.reads ?? 0
    loads.set(name, load)
  }

  function write(before: Item | undefined, after: Item): void {
    items.set(nameOf(after), after)
    const writes = Math.max(writeUnitsOf(after), before ? writeUnitsOf(before) : 0)
    note('table', String(after.pk), after, { writes })
    sorts.table.push(String(after.sk))
    for (const index of Object.keys(INDEXES) as IndexName[]) {
      const { partitionKey, sortKey } = INDEXES[index]
      for (const { entry, units } of indexWrites(index, before, after)) {
        note(index, String(entry[partitionKey.name]), after, { writes: units })
        sorts[index].push(String(entry[sortKey.name]))
        entryBytes[index] = sizeOf(entry)
      }
    }
  }

  const table: Pick<Table, 'keptUntil' | 'get' | 'put' | 'update'> = {
    keptUntil: () => null,
    async get(key, { consistent }) {
      const item = items.get(nameOf(key))
      note('table', key.pk, key, { reads: readUnitsOf(item) * (consistent ? 1 : 0.5) })
      return item ?? null
    },
    async put(given, condition) {
      const item = withoutUndefined(given)
      const before = items.get(nameOf(item))
      const isRefused = before !== undefined && demandsAbsence(condition)
      // A condition that fails costs what the write would have cost the table, and nothing in the indexes.
      if (isRefused) note('table', String(item.pk), item, { writes: writeUnitsOf(before) })
      else write(before, item)
      return !isRefused
    },
    async update(key, change) {
      const before = items.get(nameOf(key))
      const after = changed(before ?? key, change)
      write(before, after)
      return after
    },
  }
  return {
    table: table as Table,
    counted: () => ({
      loads: [...loads.values()],
      sorts,
      storedBytes: () => storedBytesOf([...items.values()]),
      entryBytes,
    }),
  }
}

const nameOf = (key: Item | Key) => `${key.pk}\n${key.sk}`
const demandsAbsence = (condition?: Condition) => condition?.expression.startsWith('attribute_not_exists(pk)')

function changed(before: Item, { set = {}, setOnce = {}, remove = [], add = {} }: Change): Item {
  const after: Item = { ...withoutUndefined(setOnce), ...before, ...withoutUndefined(set) }
  for (const name of remove) delete after[name]
  for (const [name, more] of Object.entries(add)) after[name] = Number(after[name] ?? 0) + more
  return after
}

function withoutUndefined(item: Item): Item {
  const given = { ...item }
  for (const name in given) if (given[name] === undefined) delete given[name]
  return given
}

function storedBytesOf(items: Item[]): Record<Place, number> {
  const sizeIn = (place: Place, item: Item) => {
    const stored = place === 'table' ? item : entryOf(place, item)
    return stored ? sizeOf(stored) + OVERHEAD_BYTES : 0
  }
  return Object.fromEntries(
    PLACES.map((place) => [place, items.reduce((sum, item) => sum + sizeIn(place, item), 0)]),
  ) as Record<Place, number>
}
