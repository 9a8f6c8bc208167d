import type { Resource } from './capacity-units.ts'
import type { KeyUsage } from './counting-table.ts'
import type { Simulation } from './workload.ts'

/**
 * Limits of one partition. A partition key is never spread over more than one, except by ranges of sort keys.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
export const PARTITION = { writes: 1_000, reads: 3_000 } as const

/**
 * Default quota of an on-demand table and of each of its indexes, in units per second.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
 */
export const QUOTA = 40_000

type Unit = 'writes' | 'reads'

/** Units of a key per run on average. */
export type HotKey = { resource: Resource; key: string; unit: Unit; perRun: number }

/** Runs per second at which a key needs more than one partition offers. */
export const breakingPoint = ({ unit, perRun }: HotKey): number => PARTITION[unit] / perRun

/** The hottest key of each resource, by writes and by reads. */
function hottestKeys({ usage, runs }: Simulation): HotKey[] {
  const byResource = Map.groupBy(usage.keys, ({ resource }) => resource)
  return (['writes', 'reads'] as const).flatMap((unit) =>
    [...byResource].flatMap(([resource, usages]) => {
      const used = usages.filter((usage) => usage[unit] > 0)
      if (used.length === 0) return []
      const hottest = used.reduce((max, one) => (one[unit] > max[unit] ? one : max))
      return [{ resource, key: hottest.key, unit, perRun: hottest[unit] / runs }]
    }),
  )
}

export const firstToBreak = (simulation: Simulation): HotKey =>
  hottestKeys(simulation).reduce((first, key) => (breakingPoint(key) < breakingPoint(first) ? key : first))

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

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
