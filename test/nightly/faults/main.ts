import { InvalidArgumentError, program } from 'commander'
import { readSeed } from '../../support/data/seed.ts'
import { formatReport } from './report.ts'
import { runFaults } from './run-faults.ts'

/** `npm run test:faults`. Prints its seed, and exits with code 1 when it finds a problem. */
const parseNumber = (text: string) => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return Number(text)
}

program
  .name('npm run test:faults --')
  .description(
    'Runs agents and batches on two services whose processes are killed, whose AWS requests get faults, and whose clients hang up.',
  )
  .option('--async <n>', 'async runs, and two batches of a quarter as many lines', parseNumber, 1_000)
  .option('--sync <n>', 'sync runs', parseNumber, 200)
  .option('--seed <n>', 'repeats a schedule (default: TEST_SEED, or a random seed)', parseNumber)
  .option('--kill-every <ms>', 'average time between two kills', parseNumber, 1_000)
  .option('--limit <seconds>', 'maximum time with kills and faults', parseNumber, 540)
  .parse()

const { seed = readSeed(), ...options } = program.opts()
const command = `npm run test:faults -- --seed ${seed} --async ${options.async} --sync ${options.sync} --kill-every ${options.killEvery} --limit ${options.limit}`
console.log(`seed ${seed}; to repeat: ${command}`)

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

try {
  const report = await runFaults({
    seed,
    asyncRuns: options.async,
    syncRuns: options.sync,
    killEveryMs: options.killEvery,
    limitMs: options.limit * 1_000,
    onProgress: (line) => console.log(line),
    signal: stopping.signal,
  })
  console.log(`\n${formatReport(report)}`)
  if (report.problems.length > 0) process.exitCode = 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
if (process.exitCode) console.error(`\nTo repeat: ${command}`)
