/**
 * `npm run nightly`: what draws lots, takes long, or needs programs that others maintain. A part that fails does not
 * stop the ones behind it. Prints the seed, the seconds of each part, and the command that repeats a failure.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { InvalidArgumentError, Option, program } from 'commander'
import { readSeed, TEST_SEED } from '../support/data/seed.ts'

const parseMinutes = (text: string) => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return Number(text)
}
const parseSeed = (text: string) => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be an integer.')
  return Number(text)
}

const PARTS = [
  'tests',
  'faults',
  'browser',
  'models',
  'runtimes',
  'clients',
  'schemathesis',
  'conformance',
  'template',
  'aws',
  'soak',
] as const

program
  .name('npm run nightly --')
  .description('Runs the campaigns and the tests that are too long for npm run ci.')
  .option(
    '--minutes <n>',
    'how long faults and soak, which have no end of their own, take in all',
    parseMinutes,
    30,
  )
  .option(
    '--seed <n>',
    `repeats what is drawn at random (default: ${TEST_SEED}, or a random seed)`,
    parseSeed,
  )
  .addOption(new Option('--only <parts...>', 'some of the parts').choices(PARTS))
  .parse()

const options = program.opts<{ minutes: number; seed?: number; only?: (typeof PARTS)[number][] }>()
const seed = options.seed ?? readSeed()
const faultSeconds = Math.max(30, Math.round(options.minutes * 60 * 0.3))
/** As many as get faults in that time. The others would run without any, for as long as they take. */
const [asyncRuns, syncRuns] = [2 * faultSeconds, Math.ceil(faultSeconds / 3)]
const soakMinutes = Math.max(1, options.minutes * 0.7)

/** The command of each part, as a person would type it. A part skips what needs a missing program, with a message. */
const COMMANDS: Record<(typeof PARTS)[number], string> = {
  tests: 'npx vitest run --mode nightly --silent=passed-only',
  faults: `npm run test:faults -- --seed ${seed} --async ${asyncRuns} --sync ${syncRuns} --limit ${faultSeconds}`,
  browser: 'npm run test:browser -- --mode nightly',
  models: 'npm run test:models',
  runtimes: 'npm run test:runtimes',
  clients: 'npm run examples -- --generated',
  schemathesis: 'npm run test:schemathesis',
  conformance: 'npm run test:conformance',
  template: 'npm run test:template -- --all',
  aws: 'npm run test:aws',
  soak: `npm run test:soak -- --minutes ${soakMinutes}`,
}

console.log(
  `nightly: seed ${seed}; to repeat: npm run nightly -- --seed ${seed} --minutes ${options.minutes}`,
)
const results: { part: string; seconds: number; passed: boolean; command: string }[] = []
for (const part of PARTS.filter((part) => options.only?.includes(part) ?? true)) {
  const command = COMMANDS[part]
  console.log(`\nnightly: ${part}: ${command}`)
  const startedAt = performance.now()
  const child = spawn(command, {
    shell: true,
    stdio: 'inherit',
    env: { ...process.env, [TEST_SEED]: String(seed) },
  })
  const [code] = (await once(child, 'close')) as [number | null]
  results.push({ part, command, passed: code === 0, seconds: (performance.now() - startedAt) / 1000 })
}

console.log('\nSeconds per part:')
for (const { part, seconds, passed } of results)
  console.log(`${seconds.toFixed(1).padStart(8)}  ${part}${passed ? '' : ' FAILED'}`)
const failed = results.filter(({ passed }) => !passed)
for (const { part, command } of failed)
  console.error(`nightly: ${part} failed; to repeat: ${TEST_SEED}=${seed} ${command}`)
if (failed.length > 0) process.exitCode = 1
