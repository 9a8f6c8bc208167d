import { createHash } from 'node:crypto'
import { SHARDS } from '../../lib/dynamodb/keys.ts'
import { PARTITION, unitsByKey, unitsPerRun } from './limits.ts'
import type { Simulated } from './simulate.ts'
import { PLACES, type Place } from './units.ts'

/** How a place lies on partitions before any was split for heat. `share`: of its write units, on the hottest. */
export type Layout = { place: Place; unitsASecond: number; partitions: number; keys: number; share: number }

/** A new table on demand, and each index, takes 4,000 write units a second. */
const FEWEST = 4

/**
 * Partitions by throughput, keys put on them by MD5. AWS does not publish its hash; any that is uniform puts few keys on
 * partitions as unevenly as this one does.
 */
export function layouts(simulated: Simulated, runsASecond: number): Layout[] {
  const units = unitsPerRun(simulated)
  return PLACES.flatMap((place) => {
    const { writes = 0, reads = 0 } = units.get(place) ?? {}
    if (writes === 0) return []
    const needed = Math.max(
      (writes * runsASecond) / PARTITION.writes,
      (reads * runsASecond) / PARTITION.reads,
    )
    const partitions = Math.max(FEWEST, Math.ceil(needed))
    const loads = simulated.counted.loads.filter((load) => load.place === place)
    const byKey = unitsByKey(loads, 'writes', SHARDS)
    const sums = new Array<number>(partitions).fill(0)
    for (const [key, sum] of byKey) {
      const at = partitionOf(key, partitions)
      sums[at] = (sums[at] ?? 0) + sum
    }
    const total = sums.reduce((sum, one) => sum + one, 0)
    const share = Math.max(...sums) / total
    return [{ place, unitsASecond: writes * runsASecond, partitions, keys: byKey.size, share }]
  })
}

const partitionOf = (key: string, partitions: number): number =>
  Math.floor((createHash('md5').update(key).digest().readUInt32BE() / 2 ** 32) * partitions)

/**
 * What splitting a key's range of sort keys gains: of the writes after the split, the share that falls on the upper
 * half, when the split is at the median of what was written before. A half is good; all is no gain.
 */
export function shareAfterSplit(sorts: string[]): number {
  const half = Math.floor(sorts.length / 2)
  const before = sorts.slice(0, half).sort()
  const median = before[Math.floor(half / 2)] ?? ''
  const after = sorts.slice(half)
  return after.filter((sort) => sort > median).length / after.length
}
