import { execFileSync } from 'node:child_process'
import { Command, InvalidArgumentError } from 'commander'
import { closeConnections } from './harness/client.ts'
import { openWorkspace } from './harness/workspace.ts'
import { measuredCommit, writeMeasured } from './measured.ts'
import { createReport, type Suite, type SuiteResult, toText } from './report.ts'
import { adaptation } from './suites/adaptation.ts'
import { bundles } from './suites/bundles.ts'
import { caching } from './suites/caching.ts'
import { latency } from './suites/latency.ts'
import { lines } from './suites/lines.ts'
import { listing } from './suites/listing.ts'
import { schedules } from './suites/schedules.ts'
import { service } from './suites/service.ts'
import { start } from './suites/start.ts'
import { steps } from './suites/steps.ts'
import { timers } from './suites/timers.ts'

const SUITES = {
  service,
  start,
  latency,
  steps,
  caching,
  adaptation,
  bundles,
  listing,
  timers,
  lines,
  schedules,
} satisfies Record<string, Suite>
type SuiteName = keyof typeof SUITES
const SUITE_NAMES = Object.keys(SUITES) as SuiteName[]

/** What users run: within ten minutes. The others take longer, and measure one aspect each. */
const DEFAULT: SuiteName[] = ['service', 'start']
const SECONDS = { full: 4, quick: 1.5 }
/** All processes of a measurement share them, whatever the machine has. */
const PROCESSORS = '0,1'

type Options = { quick: boolean; only: SuiteName[]; json: boolean; seconds?: number }

const program = new Command('npm run bench --')
  .description(
    'Measures the local service, compares it with a floor in the same rounds, and checks the goals.',
  )
  .option('--quick', 'fewer and shorter rounds', false)
  .option('--only <suites>', `comma-separated: ${SUITE_NAMES.join(', ')}`, parseSuiteNames, DEFAULT)
  .option('--seconds <number>', 'length of a round of runs; does not write measured.md', parseSeconds)
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
  const options = program.parse().opts<Options>()
  const { quick, only, json } = options
  const seconds = options.seconds ?? SECONDS[quick ? 'quick' : 'full']
  const commit = measuredCommit()
  pinProcessors()
  const startedAt = new Date()
  const results = new Map<SuiteName, SuiteResult>()
  for (const name of only) {
    log(name)
    results.set(name, await SUITES[name]({ workspace, quick, seconds, log: (line) => log(`  ${line}`) }))
    closeConnections()
    await workspace.cleanUp()
  }
  const report = createReport(results, { quick, startedAt })
  if (!quick && options.seconds === undefined) writeMeasured(report, commit)
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

function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (seconds > 0 && seconds <= 60) return seconds
  throw new InvalidArgumentError(`It is "${text}"; it must be a number of seconds, at most 60.`)
}

/** For this process and those that it starts; not where there is no taskset(1), or only one processor. */
function pinProcessors(): void {
  try {
    execFileSync('taskset', ['-apc', PROCESSORS, String(process.pid)], { stdio: 'ignore' })
  } catch {
    log('Processes are not pinned to processors.')
  }
}

/** Progress goes to standard error, the report to standard output. */
function log(line: string): void {
  process.stderr.write(`${line}\n`)
}
