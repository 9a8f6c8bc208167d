import { InvalidArgumentError, program } from 'commander'
import { readSeed } from '../../support/data/seed.ts'
import { formatReport } from './report.ts'
import { runFaults, settleMsFor } from './run-faults.ts'

/** `npm run test:faults`, the long run. Exits with code 1 when it finds a problem. */
const parseNumber = (text: string) => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return Number(text)
}

program
  .name('npm run test:faults --')
  .description(
    'Runs agents on two services whose processes are killed, whose AWS requests get faults, and whose clients hang up.',
  )
  .option('--async <n>', 'async runs', parseNumber, 1_000)
  .option('--sync <n>', 'sync runs', parseNumber, 200)
  .option('--seed <n>', 'repeats a schedule (default: TEST_SEED, or a random seed)', parseNumber)
  .option('--kill-every <ms>', 'average time between two kills', parseNumber, 1_000)
  .option('--rate <share>', 'share of the AWS requests that get a fault', parseNumber, 0.05)
  .option('--lease <seconds>', 'LEASE_SECONDS of the services', parseNumber, 3)
  .option(
    '--settle <seconds>',
    'how long open runs may take in the end (default: 10 leases and 15 s)',
    parseNumber,
  )
  .option('--limit <seconds>', 'maximum time with kills and faults', parseNumber, 540)
  .parse()

const options = program.opts()
const seed: number = options.seed ?? readSeed()
const leaseSeconds: number = options.lease
const command = `npm run test:faults -- --seed ${seed} --async ${options.async} --sync ${options.sync} --kill-every ${options.killEvery} --rate ${options.rate} --lease ${leaseSeconds}`
console.log(`seed ${seed}`)

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

try {
  const report = await runFaults({
    seed,
    asyncRuns: options.async,
    syncRuns: options.sync,
    killEveryMs: options.killEvery,
    rate: options.rate,
    leaseSeconds,
    settleMs: options.settle === undefined ? settleMsFor(leaseSeconds) : options.settle * 1000,
    limitMs: options.limit * 1000,
    onProgress: (line) => console.log(line),
    signal: stopping.signal,
  })
  console.log(`\n${formatReport(report)}`)
  if (report.problems.length > 0) process.exitCode = 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
if (process.exitCode) console.error(`\nseed ${seed}; to repeat: ${command}`)
