/** `npm run simulate`: how runs load the partition keys of the table and its indexes, and which key limits the rate. */
import { Command, InvalidArgumentError } from 'commander'
import { SMALL_QUOTA } from '../../lib/core/limits.ts'
import { markdownTable, type Row } from '../report.ts'
import { RESOURCES } from './capacity-units.ts'
import { breakingPoint, firstToBreak, QUOTA, unitsPerRun } from './hot-keys.ts'
import { PAYLOAD_SIZES } from './payloads.ts'
import { ALL_CALLS, type LimitedBy, QUOTAS, simulateWaiting } from './waiting.ts'
import { SCENARIOS, type Simulation, simulate } from './workload.ts'

/** A multiple of all numbers of shards. Repeated draws differ by a few percent. */
const RUNS = 5_120

const program = new Command('npm run simulate --')
  .description('Simulates how runs load the keys of the table and its indexes. See docs/costs.md.')
  .option('--payload <bytes>', 'JSON of each input and each output', parseCount, PAYLOAD_SIZES[0])
const { payload: payloadBytes } = program.parse().opts<{ payload: number }>()
const simulations: Simulation[] = []
for (const scenario of SCENARIOS)
  simulations.push(await simulate(scenario, { runs: RUNS, seed: 1, payloadBytes }))

console.log(`${format(RUNS)} runs of each scenario, ${format(payloadBytes)} bytes in and out.`)
print('Units of one run: written to the table and its indexes, and read from the table', unitRows())
print('Limit in runs per second: the first key that needs more than a partition', simulations.map(limitRow))
print(
  'Calls of organization B that are refused while callers of organization A repeat theirs, and queued runs and deliveries wait, from the tenth second on',
  await quotaRows(),
)

function unitRows(): Row[] {
  const byKind = Map.groupBy(simulations, ({ scenario }) => scenario.kind)
  return [...byKind].map(([kind, [first]]) => {
    const units = unitsPerRun(first as Simulation)
    const all = [...units.values()]
    const written = RESOURCES.map((resource) => [resource, round(units.get(resource)?.writes ?? 0)])
    return {
      run: kind,
      ...Object.fromEntries(written),
      written: round(all.reduce((sum, { writes }) => sum + writes, 0)),
      read: round(all.reduce((sum, { reads }) => sum + reads, 0)),
    }
  })
}

function limitRow(simulation: Simulation): Row {
  const key = firstToBreak(simulation)
  const name = key.resource === 'table' ? `${key.key.split('#')[0]} ${key.unit}` : key.resource
  const [resource, units] = [...unitsPerRun(simulation)]
    .map(([resource, { writes, reads }]) => [resource, Math.max(writes, reads)] as const)
    .reduce((max, one) => (one[1] > max[1] ? one : max))
  return {
    runs: `${simulation.scenario.name}, ${simulation.scenario.kind}`,
    'limit of the hottest key': `${format(breakingPoint(key))} ${name}`,
    [`quota of ${format(QUOTA)}`]: `${format(QUOTA / units)} ${resource}`,
  }
}

async function quotaRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const quota of QUOTAS) {
    const later = async (limitedBy: LimitedBy) => {
      const shares: number[] = []
      // A small account has few calls.
      for (let seed = 1; seed <= Math.max(1, SMALL_QUOTA / quota); seed++)
        shares.push((await simulateWaiting(ALL_CALLS, limitedBy, quota, seed)).refusedLater)
      return percent(shares.reduce((sum, share) => sum + share, 0) / shares.length)
    }
    const without = await later('nothing')
    rows.push({
      quota,
      'without a limit': without,
      // The sweeper changes nothing for larger ones.
      'by default': quota < SMALL_QUOTA ? await later('sweeper') : without,
      accountConcurrency: await later('setting'),
    })
  }
  return rows
}

function print(title: string, rows: Row[]): void {
  console.log(`\n${title}\n\n${markdownTable(rows)}`)
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
