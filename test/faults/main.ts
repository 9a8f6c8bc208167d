import { InvalidArgumentError, program } from 'commander'
import { seedOf } from './random.ts'
import { printed } from './report.ts'
import { runFaults, SETTLE_LEASES } from './run-faults.ts'

/** The long run: `npm run test:faults`. Ends with code 1 when anything was wrong. */
const number = (text: string) => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return Number(text)
}

program
  .name('npm run test:faults --')
  .description('Runs agents on two services whose processes are killed and whose requests go wrong.')
  .option('--async <n>', 'async runs', number, 1_000)
  .option('--sync <n>', 'sync runs', number, 200)
  .option('--seed <n>', 'repeats a schedule (default: FAULTS_SEED, else any)', number)
  .option('--kill-every <ms>', 'how often a process is killed', number, 1_000)
  .option('--rate <share>', 'of the requests to the emulators that meet a fault', number, 0.05)
  .option('--lease <seconds>', 'LEASE_SECONDS of the services', number, 3)
  .option(
    '--settle <seconds>',
    'how long what is open may take in the end (default: 10 leases and 15 s)',
    number,
  )
  .option('--limit <seconds>', 'how long kills and faults may go on', number, 540)
  .parse()

const given = program.opts()
const seed: number = given.seed ?? seedOf()
const leaseSeconds: number = given.lease
const command = `npm run test:faults -- --seed ${seed} --async ${given.async} --sync ${given.sync} --kill-every ${given.killEvery} --rate ${given.rate} --lease ${leaseSeconds}`
console.log(`seed ${seed}`)

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())

try {
  const report = await runFaults({
    seed,
    asyncRuns: given.async,
    syncRuns: given.sync,
    killEveryMs: given.killEvery,
    rate: given.rate,
    leaseSeconds,
    settleMs: (given.settle ?? SETTLE_LEASES * leaseSeconds + 15) * 1000,
    limitMs: given.limit * 1000,
    onProgress: (line) => console.log(line),
    signal: ending.signal,
  })
  console.log(`\n${printed(report)}`)
  if (report.problems.length > 0) process.exitCode = 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
if (process.exitCode) console.error(`\nseed ${seed}; to repeat it: ${command}`)
