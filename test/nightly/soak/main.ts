import { InvalidArgumentError, program } from 'commander'
import { formatSoakReport } from './report.ts'
import { runSoak } from './run-soak.ts'

/** `npm run test:soak`. Exits with code 1 when it finds a violation. */
const parsePositive = (text: string) => {
  const number = Number(text)
  if (!(number > 0)) throw new InvalidArgumentError('It must be a positive number.')
  return number
}

program
  .name('npm run test:soak --')
  .description('Loads a service for a long time; memory, sockets, files and latency may not grow.')
  .option('--minutes <n>', 'time with load; less than 6 proves little', parsePositive, 30)
  .option('--share <n>', 'load as a share of the measured capacity', parsePositive, 0.7)
  .parse()

const { minutes, share } = program.opts<{ minutes: number; share: number }>()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

try {
  const startedAt = performance.now()
  const onProgress = (line: string) =>
    process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${line}\n`)
  const report = await runSoak({ minutes, share, onProgress, signal: stopping.signal })
  console.log(formatSoakReport(report))
  if (report.violations.length > 0) process.exitCode = 1
} catch (error) {
  if (!stopping.signal.aborted) console.error(error)
  process.exitCode = 1
}
