import { createHash } from 'node:crypto'
import { RESOURCES, type Resource } from './capacity-units.ts'
import type { KeyUsage } from './counting-table.ts'
import type { Simulation } from './workload.ts'

/**
 * Limits of one partition. A partition key is never spread over more than one, except by ranges of sort keys.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
export const PARTITION = { writes: 1_000, reads: 3_000, bytes: 10e9 } as const

/**
 * Default quota of an on-demand table and of each of its indexes, in units per second.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
 */
export const QUOTA = 40_000

/** A new on-demand table or index takes 4,000 write units per second. */
const MIN_PARTITIONS = 4

type Unit = 'writes' | 'reads'

/** Units of a key per run on average, and its share of all units of the resource. */
export type HotKey = { resource: Resource; key: string; unit: Unit; perRun: number; share: number }

/** Runs per second at which a key needs more than one partition offers. */
export const breakingPoint = ({ unit, perRun }: Pick<HotKey, 'unit' | 'perRun'>): number =>
  PARTITION[unit] / perRun

/** The hottest key of each resource, by writes and by reads. */
export function hottestKeys({ usage, runs }: Pick<Simulation, 'usage' | 'runs'>): HotKey[] {
  const byResource = Map.groupBy(usage.keys, ({ resource }) => resource)
  return (['writes', 'reads'] as const).flatMap((unit) =>
    [...byResource].flatMap(([resource, usages]) => {
      const sums = unitsByKey(usages, unit)
      const total = sum(sums.values())
      if (total === 0) return []
      const [key, units] = [...sums].reduce((max, one) => (one[1] > max[1] ? one : max))
      return [{ resource, key, unit, perRun: units / runs, share: units / total }]
    }),
  )
}

export const firstToBreak = (simulation: Simulation): HotKey =>
  hottestKeys(simulation).reduce((first, key) => (breakingPoint(key) < breakingPoint(first) ? key : first))

const unitsByKey = (usages: KeyUsage[], unit: Unit): Map<string, number> =>
  new Map(usages.filter((usage) => usage[unit] > 0).map((usage) => [usage.key, usage[unit]]))

/** Write and read units of one run, for each resource that it uses. */
export function unitsPerRun({ usage, runs }: Simulation): Map<Resource, Record<Unit, number>> {
  const byResource = Map.groupBy(usage.keys, ({ resource }) => resource)
  const mean = (usages: KeyUsage[], unit: Unit) => sum(usages.map((one) => one[unit])) / runs
  return new Map(
    [...byResource].map(([resource, usages]) => [
      resource,
      { writes: mean(usages, 'writes'), reads: mean(usages, 'reads') },
    ]),
  )
}

/** `share`: of the write units, on the hottest partition. */
export type Layout = {
  resource: Resource
  unitsPerSecond: number
  partitions: number
  keys: number
  share: number
}

/**
 * The partitions that each resource needs for its throughput, before any split for heat. AWS does not publish its hash
 * function; MD5 stands for any uniform one.
 */
export function partitionLayouts(simulation: Simulation, runsPerSecond: number): Layout[] {
  const units = unitsPerRun(simulation)
  return RESOURCES.flatMap((resource) => {
    const { writes = 0, reads = 0 } = units.get(resource) ?? {}
    if (writes === 0) return []
    const needed = Math.max(writes / PARTITION.writes, reads / PARTITION.reads) * runsPerSecond
    const partitions = Math.max(MIN_PARTITIONS, Math.ceil(needed))
    const usages = simulation.usage.keys.filter((usage) => usage.resource === resource)
    const keys = unitsByKey(usages, 'writes')
    const sums = new Array<number>(partitions).fill(0)
    for (const [key, units] of keys) {
      const partition = partitionOf(key, partitions)
      sums[partition] = (sums[partition] ?? 0) + units
    }
    const share = Math.max(...sums) / sum(sums)
    return [{ resource, unitsPerSecond: writes * runsPerSecond, partitions, keys: keys.size, share }]
  })
}

const partitionOf = (key: string, partitions: number): number =>
  Math.floor((createHash('md5').update(key).digest().readUInt32BE() / 2 ** 32) * partitions)

/**
 * Splits a range of sort keys at the median of its first half of writes. Returns the share of the later writes that
 * fall on the upper part: 0.5 means that the split halves the load, 1 that it does not help.
 */
export function shareAfterSplit(sortKeys: string[]): number {
  const half = Math.floor(sortKeys.length / 2)
  const earlier = sortKeys.slice(0, half).sort()
  const median = earlier[Math.floor(half / 2)] ?? ''
  const later = sortKeys.slice(half)
  return later.filter((sortKey) => sortKey > median).length / later.length
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
