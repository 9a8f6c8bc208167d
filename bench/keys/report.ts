import { SHARDS } from '../../lib/dynamodb/keys.ts'
import { countingBreaksAt, countsPerRun, type Intake } from './admissions.ts'
import {
  breakingPoint,
  firstToBreak,
  hottestKeys,
  type KeyLoad,
  PARTITION,
  type Shards,
  TABLE_UNITS,
  unitsPerRun,
} from './limits.ts'
import { type Layout, layouts, shareAfterSplit } from './partitions.ts'
import { SCENARIOS } from './scenarios.ts'
import { type Simulated, simulate } from './simulate.ts'
import { PLACES, type Place } from './units.ts'

export const PLANS: { name: string; shards: Shards }[] = [
  ...[SHARDS, 16, 32, 64].map((count) => ({ name: `${count} shards`, shards: () => count })),
  { name: '64 in open only', shards: (place) => (place === 'open-executions' ? 64 : SHARDS) },
]
export const TARGET = 10_000
const STORED = 1e9

export type Broken = KeyLoad & { plan: string; runsASecond: number }

export type Row = {
  scenario: string
  kind: string
  hottest: KeyLoad[]
  /** The first key to break, in each of `PLANS`. */
  breaks: Broken[]
  /** Runs a second at which a place as a whole needs more than the quota of a table, whatever the shards. */
  quota: { place: Place; runsASecond: number }
}

export type KeysReport = {
  seed: number
  runs: number
  units: { kind: string; places: { place: Place; writes: number; reads: number }[] }[]
  rows: Row[]
  /** Of the scenario `Zipf`, async, at the target. */
  layouts: Layout[]
  /** Writes that fall on the newer half of a split range of sort keys. */
  afterSplit: { place: Place; share: number }[]
  stored: { place: Place; bytesPerRun: number; partitions: number }[]
  counting: { intake: Intake; countsPerRun: number }[]
  countingBreaks: CountingBreak[]
}

/** Of one organization whose runs take so long, each in a process of its own while it lasts. */
export type CountingBreak = { seconds: number; countsPerRun: number; runsASecond: number }

const INTAKES: Intake[] = [
  { organizations: 1, skew: 'even', runsASecond: 10 },
  { organizations: 100, skew: 'even', runsASecond: 10 },
  { organizations: 1_000, skew: 'zipf', runsASecond: 10 },
  { organizations: 1_000, skew: 'even', runsASecond: 10 },
]

/** Everything that `npm run simulate` prints. */
export async function keysReport({ runs, seed }: { runs: number; seed: number }): Promise<KeysReport> {
  const all: Simulated[] = []
  for (const scenario of SCENARIOS) all.push(await simulate(scenario, { runs, seed }))
  const found = (name: string, kind: string) => {
    const one = all.find(({ scenario }) => scenario.name === name && scenario.kind === kind)
    if (!one) throw new Error(`There is no scenario "${name}" of ${kind} runs.`)
    return one
  }
  const kinds = Map.groupBy(all, ({ scenario }) => scenario.kind)
  const counting = []
  for (const intake of INTAKES) counting.push({ intake, countsPerRun: await countsPerRun(intake, seed) })
  const even = found('even', 'sync')
  const storedBytes = even.counted.storedBytes()
  return {
    seed,
    runs,
    units: [...kinds].map(([kind, [first]]) => ({
      kind,
      places: [...unitsPerRun(first as Simulated)].map(([place, units]) => ({ place, ...units })),
    })),
    rows: all.map(rowOf),
    layouts: layouts(found('Zipf', 'async'), TARGET),
    afterSplit: PLACES.filter((place) => place !== 'table').map((place) => ({
      place,
      share: shareAfterSplit(even.counted.sorts[place]),
    })),
    stored: PLACES.map((place) => {
      const bytesPerRun = storedBytes[place] / runs
      return { place, bytesPerRun, partitions: Math.ceil((bytesPerRun * STORED) / PARTITION.bytes) }
    }),
    counting,
    countingBreaks: await countingBreaks(even.counted.entryBytes, seed),
  }
}

function rowOf(simulated: Simulated): Row {
  const { name, kind } = simulated.scenario
  const quotas = [...unitsPerRun(simulated)].map(([place, { writes, reads }]) => ({
    place,
    runsASecond: TABLE_UNITS / Math.max(writes, reads),
  }))
  return {
    scenario: name,
    kind,
    hottest: hottestKeys(simulated),
    breaks: PLANS.map(({ name: plan, shards }) => {
      const key = firstToBreak(simulated, shards)
      return { plan, ...key, runsASecond: breakingPoint(key) }
    }),
    quota: quotas.reduce((min, one) => (one.runsASecond < min.runsASecond ? one : min)),
  }
}

async function countingBreaks(entryBytes: Partial<Record<Place, number>>, seed: number) {
  const found: CountingBreak[] = []
  for (const seconds of [1, 10, 60]) {
    const counts = await countsPerRun({ organizations: 1, skew: 'even', runsASecond: 1 / seconds }, seed)
    const bytes = entryBytes['open-executions-of-organization'] ?? 0
    const runsASecond = countingBreaksAt({ entryBytes: bytes, seconds, countsPerRun: counts })
    found.push({ seconds, countsPerRun: counts, runsASecond })
  }
  return found
}
