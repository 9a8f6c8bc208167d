import { SHARDS, shardOf } from '../../lib/dynamodb/keys.ts'
import type { Load } from './counting-table.ts'
import type { Simulated } from './simulate.ts'
import type { Place } from './units.ts'

/**
 * Units a second of one partition. One key of a table, or one sort key range of a key, is never spread further.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
export const PARTITION = { writes: 1_000, reads: 3_000, bytes: 10e9 } as const

/**
 * On demand, of a table and of each of its indexes; can be raised.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
 */
export const TABLE_UNITS = 40_000

/** The units that a key takes of one run, on average, and the share of all units of its place. */
export type KeyLoad = { place: Place; key: string; unit: 'writes' | 'reads'; perRun: number; share: number }

/** Runs a second at which a key needs more than a partition gives. */
export const breakingPoint = ({ unit, perRun }: Pick<KeyLoad, 'unit' | 'perRun'>): number =>
  PARTITION[unit] / perRun

/** What `SHARDS` would be for a place. */
export type Shards = (place: Place) => number
const AS_IT_IS: Shards = () => SHARDS

/** The hottest key of each place by its writes, and of the table by its reads. */
export function hottestKeys({ counted, runs }: Simulated, shards = AS_IT_IS): KeyLoad[] {
  return (['writes', 'reads'] as const).flatMap((unit) => {
    const places = Map.groupBy(counted.loads, ({ place }) => place)
    return [...places].flatMap(([place, loads]) => {
      const sums = unitsByKey(loads, unit, shards(place))
      const total = [...sums.values()].reduce((sum, units) => sum + units, 0)
      if (total === 0) return []
      const [key, units] = [...sums].reduce((max, one) => (one[1] > max[1] ? one : max))
      return [{ place, key, unit, perRun: units / runs, share: units / total }]
    })
  })
}

/** The first key to break. */
export const firstToBreak = (simulated: Simulated, shards = AS_IT_IS): KeyLoad =>
  hottestKeys(simulated, shards).reduce((first, key) =>
    breakingPoint(key) < breakingPoint(first) ? key : first,
  )

export function unitsByKey(loads: Load[], unit: 'writes' | 'reads', shards: number): Map<string, number> {
  const sums = new Map<string, number>()
  for (const load of loads) {
    if (load[unit] === 0) continue
    const key = resharded(load, shards)
    sums.set(key, (sums.get(key) ?? 0) + load[unit])
  }
  return sums
}

/** The key as `keys.ts` would build it with another number of shards. */
function resharded({ place, key, byte }: Load, shards: number): string {
  if (place === 'table' || shards === SHARDS) return key
  const own = `#${shardOf(byte)}`
  if (!key.endsWith(own)) throw new Error(`${key} does not end in the shard ${own}.`)
  return `${key.slice(0, -own.length)}#${Number.parseInt(byte, 16) % shards}`
}

/** Units of one run, by place. */
export function unitsPerRun({ counted, runs }: Simulated): Map<Place, { writes: number; reads: number }> {
  const places = Map.groupBy(counted.loads, ({ place }) => place)
  const sum = (loads: Load[], unit: 'writes' | 'reads') =>
    loads.reduce((total, load) => total + load[unit], 0) / runs
  return new Map(
    [...places].map(([place, loads]) => [
      place,
      { writes: sum(loads, 'writes'), reads: sum(loads, 'reads') },
    ]),
  )
}
