import { Command, InvalidArgumentError } from 'commander'
import { closeConnections } from './harness/client.ts'
import { openWorkspace } from './harness/workspace.ts'
import { createReport, type Suite, type SuiteResult, toText } from './report.ts'
import { adaptation } from './suites/adaptation.ts'
import { async } from './suites/async.ts'
import { batches } from './suites/batches.ts'
import { bundles } from './suites/bundles.ts'
import { caching } from './suites/caching.ts'
import { footprint } from './suites/footprint.ts'
import { latency } from './suites/latency.ts'
import { lines } from './suites/lines.ts'
import { listing } from './suites/listing.ts'
import { overhead } from './suites/overhead.ts'
import { parallel } from './suites/parallel.ts'
import { schedules } from './suites/schedules.ts'
import { steps } from './suites/steps.ts'
import { timers } from './suites/timers.ts'

const SUITES = {
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
  batches,
  timers,
  lines,
  schedules,
} satisfies Record<string, Suite>
type SuiteName = keyof typeof SUITES
const SUITE_NAMES = Object.keys(SUITES) as SuiteName[]

type Options = { quick: boolean; only: SuiteName[]; json: boolean }

const program = new Command('npm run bench --')
  .description(
    'Measures the local service, compares it with a floor in the same rounds, and checks the goals.',
  )
  .option('--quick', 'fewer and shorter rounds', false)
  .option('--only <suites>', `comma-separated: ${SUITE_NAMES.join(', ')}`, parseSuiteNames, SUITE_NAMES)
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
  const { quick, only, json } = program.parse().opts<Options>()
  const startedAt = new Date()
  const results = new Map<SuiteName, SuiteResult>()
  for (const name of only) {
    log(name)
    results.set(name, await SUITES[name]({ workspace, quick, log: (line) => log(`  ${line}`) }))
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

function parseSuiteNames(text: string): SuiteName[] {
  const names = text.split(',')
  const unknown = names.find((name) => !SUITE_NAMES.includes(name as SuiteName))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Unknown suite "${unknown}". Allowed: ${SUITE_NAMES.join(', ')}.`)
  return SUITE_NAMES.filter((name) => names.includes(name))
}

/** Progress goes to standard error, the report to standard output. */
function log(line: string): void {
  process.stderr.write(`${line}\n`)
}
