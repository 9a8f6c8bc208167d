/** `npm run simulate`: how runs load the partition keys of the table and its indexes, and which key limits the rate. */
import { Command, InvalidArgumentError } from 'commander'
import { markdownTable, type Row } from '../report.ts'
import { ADMISSION_SCENARIOS, simulateAdmission } from './admission.ts'
import { BATCH_SCENARIOS, simulateBatches } from './batches.ts'
import { INDEX_NAMES, RESOURCES, type Resource } from './capacity-units.ts'
import {
  breakingPoint,
  firstToBreak,
  type HotKey,
  hottestKeys,
  PARTITION,
  partitionLayouts,
  QUOTA,
  shareAfterSplit,
  unitsPerRun,
} from './hot-keys.ts'
import { largePayloadRows } from './large-payloads.ts'
import { PAYLOAD_SIZES } from './payloads.ts'
import { sizeRows } from './size-rows.ts'
import { FOLD_SCENARIOS, simulateFold } from './usage.ts'
import { simulateWaiting, WAITING_SCENARIOS } from './waiting.ts'
import { findScenario, SCENARIOS, type Simulation, simulate } from './workload.ts'

/** A multiple of all numbers of shards. Repeated draws differ by a few percent. */
const RUNS = 5_120
const TARGET = 10_000
const STORED = 1e9
const BATCH_RATE = 1_000

const NAMES: Record<Resource, string> = {
  table: 'table',
  'owned-by-organization': 'owned',
  'executions-of-agent': 'of agent',
  'open-executions': 'open',
  'executions-of-tenant': 'of tenant',
  'executions-by-status': 'by status',
  'failed-executions-of-agent': 'failed',
  'lessons-of-agent': 'lessons',
  'usage-entries': 'usage',
}

const program = new Command('npm run simulate --')
  .description(
    'Simulates how runs load the keys of the table and its indexes. docs/scaling.md explains the tables.',
  )
  .option('--seed <number>', 'seed of the random draws', parseCount, 1)
  .option('--runs <number>', 'runs of each scenario', parseCount, RUNS)
  .option('--payload <bytes>', 'JSON of each input and each output', parseCount, PAYLOAD_SIZES[0])

type Options = { seed: number; runs: number; payload: number }
const { seed, runs, payload: payloadBytes } = program.parse().opts<Options>()
const simulations: Simulation[] = []
for (const scenario of SCENARIOS) simulations.push(await simulate(scenario, { runs, seed, payloadBytes }))

console.log(`${format(runs)} runs of each scenario, seed ${seed}, ${format(payloadBytes)} bytes in and out.`)
print('Units of one run: written to the table and its indexes, and read from the table', unitRows())
print(
  'Units of one run by size of its input and of its output, and as a multiple of those of the smallest',
  await sizeRows({ seed }),
)
print('Units of one payload that is stored in chunks', await largePayloadRows())
print(
  'Share of the hottest key: of the writes to each resource, and of the reads from the table',
  simulations.map((simulation) => shareRow(simulation)),
)
print(
  'Limit in runs per second, and the first key that needs more than one partition offers',
  simulations.map((simulation) => limitRow(simulation)),
)
print(
  `Partitions at ${format(TARGET)} runs per second (Zipf, async) before any split for heat`,
  partitionLayouts(get('Zipf', 'async'), TARGET).map(
    ({ resource, unitsPerSecond, partitions, keys, share }) => ({
      resource: NAMES[resource],
      'units/s': format(unitsPerSecond),
      partitions,
      keys: format(keys),
      'hottest partition': percent(share),
      'its units/s': format(share * unitsPerSecond),
    }),
  ),
)
print('Share of later writes on the newer half of a split range of sort keys', [
  Object.fromEntries(
    INDEX_NAMES.map((index) => [
      NAMES[index],
      percent(shareAfterSplit(get('even', 'sync').usage.sortKeys[index])),
    ]),
  ),
])
print('Storage of a synchronous run', storageRows())
print(
  `Write units per second of the hottest key when ${format(BATCH_RATE)} lines of batches of one organization end per second`,
  await batchRows(),
)
print(`Sweep that adds up the usage of a minute with ${format(TARGET)} runs per second`, await foldRows())
print('Cap of 1,000 open executions with 200 processes', await admissionRows())
print(
  'Calls of organization B that are refused while 5,000 callers of organization A repeat theirs, without and with `accountConcurrency=1000`',
  await waitingRows(),
)

function unitRows(): Row[] {
  const byKind = Map.groupBy(simulations, ({ scenario }) => scenario.kind)
  return [...byKind].map(([kind, [first]]) => {
    const units = unitsPerRun(first as Simulation)
    const all = [...units.values()]
    return {
      run: kind,
      ...byResource((resource) => round(units.get(resource)?.writes ?? 0)),
      written: round(all.reduce((sum, { writes }) => sum + writes, 0)),
      read: round(all.reduce((sum, { reads }) => sum + reads, 0)),
    }
  })
}

async function foldRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const scenario of FOLD_SCENARIOS) {
    const minute = await simulateFold(scenario, { seed })
    rows.push({
      runs: scenario.name,
      pages: format(minute.pages),
      requests: format(minute.requests),
      'read units': format(minute.readUnits),
      'write units': format(minute.writeUnits),
      'of the hottest key': format(minute.hottestUnits),
      'seconds of a processor': round(minute.seconds),
    })
  }
  return rows
}

function shareRow(simulation: Simulation): Row {
  const keys = hottestKeys(simulation)
  const shareOf = (resource: Resource, unit: HotKey['unit']) => {
    const key = keys.find((one) => one.resource === resource && one.unit === unit)
    return key ? percent(key.share) : '–'
  }
  return {
    runs: nameOf(simulation),
    ...byResource((resource) => shareOf(resource, 'writes')),
    read: shareOf('table', 'reads'),
  }
}

function limitRow(simulation: Simulation): Row {
  const key = firstToBreak(simulation)
  const name = key.resource === 'table' ? `${key.key.split('#')[0]} ${key.unit}` : NAMES[key.resource]
  const [resource, units] = [...unitsPerRun(simulation)]
    .map(([resource, { writes, reads }]) => [resource, Math.max(writes, reads)] as const)
    .reduce((max, one) => (one[1] > max[1] ? one : max))
  return {
    runs: nameOf(simulation),
    'limit of the hottest key': `${format(breakingPoint(key))} ${name}`,
    [`quota of ${format(QUOTA)}`]: `${format(QUOTA / units)} ${NAMES[resource]}`,
  }
}

async function admissionRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const scenario of ADMISSION_SCENARIOS) {
    const { maxOpen, queriesPerRun, minOpenAtRejection } = await simulateAdmission(scenario, seed)
    rows.push({
      load: scenario.name,
      'most open': percent(maxOpen),
      'queries per run below half': round(queriesPerRun),
      'fewest open at a rejection': minOpenAtRejection === null ? 'none' : percent(minOpenAtRejection),
    })
  }
  return rows
}

async function batchRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const scenario of BATCH_SCENARIOS) {
    const keys = await simulateBatches(scenario, seed)
    const unitsOf = (resource: Resource) =>
      BATCH_RATE * (keys.find((key) => key.resource === resource)?.perRun ?? 0)
    rows.push({ batches: scenario.name, ...byResource((resource) => format(unitsOf(resource))) })
  }
  return rows
}

async function waitingRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const scenario of WAITING_SCENARIOS) {
    const without = await simulateWaiting(scenario, false, seed)
    const limited = await simulateWaiting(scenario, true, seed)
    rows.push({
      'organization A': scenario.name,
      without: percent(without.refused),
      with: percent(limited.refused),
      'with, from the tenth second on': percent(limited.refusedLater),
      "A's concurrency": percent(limited.occupied),
      'write units/s': format(limited.writes),
    })
  }
  return rows
}

function storageRows(): Row[] {
  const bytes = get('even', 'sync').usage.storedBytes()
  return RESOURCES.map((resource) => {
    const perRun = bytes[resource] / runs
    return {
      resource: NAMES[resource],
      'bytes per run': Math.round(perRun),
      'partitions at 1e9 runs': Math.ceil((perRun * STORED) / PARTITION.bytes),
    }
  })
}

function print(title: string, rows: Row[]): void {
  console.log(`\n${title}\n\n${markdownTable(rows)}`)
}

function get(name: string, kind: Simulation['scenario']['kind']): Simulation {
  return simulations[SCENARIOS.indexOf(findScenario(name, kind))] as Simulation
}

function byResource(toCell: (resource: Resource) => string | number): Row {
  return Object.fromEntries(RESOURCES.map((resource) => [NAMES[resource], toCell(resource)]))
}

function nameOf({ scenario: { name, kind } }: Simulation): string {
  return `${name}, ${kind}`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}

function round(value: number): number {
  return Number(value.toFixed(2))
}

/** Three significant digits, with thousands separators. */
function format(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US')
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Must be an integer from 1 to 9999999.')
  return Number(text)
}
