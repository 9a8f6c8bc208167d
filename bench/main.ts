import { Command, InvalidArgumentError } from 'commander'
import type { PartName } from './goals.ts'
import { closeConnections } from './harness/client.ts'
import { openWorkspace } from './harness/workspace.ts'
import { adaptation } from './parts/adaptation.ts'
import { async } from './parts/async.ts'
import { bundles } from './parts/bundles.ts'
import { caching } from './parts/caching.ts'
import { footprint } from './parts/footprint.ts'
import { latency } from './parts/latency.ts'
import { listing } from './parts/listing.ts'
import { overhead } from './parts/overhead.ts'
import { parallel } from './parts/parallel.ts'
import { steps } from './parts/steps.ts'
import { createReport, type Part, type PartResult, toText } from './report.ts'

const PARTS: Record<PartName, Part> = {
  overhead,
  latency,
  async,
  steps,
  caching,
  adaptation,
  bundles,
  listing,
  footprint,
  parallel,
}
const PART_NAMES = Object.keys(PARTS) as PartName[]

type Options = { quick: boolean; only: PartName[]; stored: number | null; json: boolean }

const program = new Command('npm run bench --')
  .description(
    'Measures the local service, compares it with a floor in the same rounds, and checks the goals.',
  )
  .option('--quick', 'fewer and shorter rounds', false)
  .option('--only <parts>', `comma-separated: ${PART_NAMES.join(', ')}`, parsePartNames, PART_NAMES)
  .option('--stored <number>', 'executions that the part listing stores', parseStored, null)
  .option('--json', 'print one JSON document instead of tables', false)

const workspace = openWorkspace()
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    interrupted = true
    await workspace.cleanUp()
    process.exit(1)
  })
}
try {
  const { quick, only, stored, json } = program.parse().opts<Options>()
  const startedAt = new Date()
  const results = new Map<PartName, PartResult>()
  for (const name of only) {
    log(name)
    results.set(name, await PARTS[name]({ workspace, quick, stored, log: (line) => log(`  ${line}`) }))
    closeConnections()
    await workspace.cleanUp()
  }
  const report = createReport(results, { quick, startedAt })
  console.log(json ? JSON.stringify(report, null, 2) : toText(report))
} catch (error) {
  if (!interrupted) console.error(error)
  process.exitCode = 1
} finally {
  await workspace.cleanUp()
}

function parsePartNames(text: string): PartName[] {
  const names = text.split(',')
  const unknown = names.find((name) => !PART_NAMES.includes(name as PartName))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Unknown part "${unknown}". Allowed: ${PART_NAMES.join(', ')}.`)
  return PART_NAMES.filter((name) => names.includes(name))
}

function parseStored(text: string): number {
  if (!/^[1-9]\d{3,6}$/.test(text)) throw new InvalidArgumentError('Must be an integer from 1000 to 9999999.')
  return Number(text)
}

/** Progress goes to standard error, the report to standard output. */
function log(line: string): void {
  process.stderr.write(`${line}\n`)
}
