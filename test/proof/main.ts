import { stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { InvalidArgumentError, program } from 'commander'
import { runCommand } from '../support/processes/processes.ts'
import { identify, openAccount } from './aws/account.ts'
import { deployWithCdk } from './aws/deploy.ts'
import { claimStack, destroyStack } from './aws/proof-stack.ts'
import { removeRestored } from './aws/restore.ts'
import { planProof } from './plan.ts'
import { formatProof, writeReport } from './report.ts'
import { runProof } from './run-proof.ts'
import { openStateFile } from './state-file.ts'

/** `npm run proof`. Exit codes: 0 passed, 1 failed, 2 wrong usage or refused. */
const parsePositive = (text: string) => {
  const number = Number(text)
  if (!(number > 0)) throw new InvalidArgumentError('It must be a positive number.')
  return number
}
const collect = (value: string, previous: string[]) => [...previous, value]

program
  .name('npm run proof --')
  .description(
    'Deploys the service to the AWS account of the environment, checks it under load and disturbances, reports, and destroys it.',
  )
  .requiredOption('--stack <name>', 'name of the stack to deploy, which must not exist')
  .option('--minutes <n>', 'time with load', parsePositive, 4)
  .option('--rate <n>', 'runs per second', parsePositive, 2)
  .option('--settle <minutes>', 'how long runs may take after the load', parsePositive, 5)
  .option('--context <setting=value>', 'a setting of the stack; can be repeated', collect, [])
  .option(
    '--report <folder>',
    'where to write report.html, report.md and report.json; default: .proof/<stack>',
  )
  .option('--yes', 'do not ask before deploying', false)
  .option('--keep', 'leave the stack in place', false)
  .option('--destroy', 'only destroy what an earlier proof of the stack left behind', false)
  .parse()

type Options = {
  stack: string
  minutes: number
  rate: number
  settle: number
  context: string[]
  report?: string
  yes: boolean
  keep: boolean
  destroy: boolean
}
const { stack, minutes, rate, settle, context, report: folder, yes, keep, destroy } = program.opts<Options>()

const FOLDER = fileURLToPath(new URL('../../.proof', import.meta.url))
/** An asynchronous run with a dozen polls costs $64 per million (docs/costs.md); half as much again for the rest. */
const DOLLARS_PER_RUN = 100e-6

const onProgress = (line: string) =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
const refuse = (reason: string) => program.error(reason, { exitCode: 2 })

const account = openAccount()
const file = openStateFile(FOLDER, stack)
const identity = await identify(account).catch((error: Error) => refuse(`AWS: ${error.message}`))

if (destroy) {
  const state = file.read() ?? refuse(`There is no ${file.path}: no proof of ${stack} is left behind.`)
  await removeRestored(account, stack)
  const { figures = {} } = await destroyStack(account, { state, identity, file })
  for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${value}`)
} else await prove()

async function prove(): Promise<void> {
  const runs = Math.round(minutes * 60 * rate)
  const where = `${identity.region} of the AWS account ${identity.account}`
  console.error(
    `Deploys the stack ${stack} to ${where}, with ${runs} runs in ${minutes} minutes, for about $${(runs * DOLLARS_PER_RUN).toFixed(2)}.`,
  )
  if (!yes) await confirm()
  const state = await claimStack(account, { stack, identity, file }).catch((error: Error) =>
    refuse(error.message),
  )
  const stopping = new AbortController()
  // The first signal destroys the stack; a second one leaves it to --destroy.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => (stopping.signal.aborted ? process.exit(1) : stopping.abort()))
  const report = await runProof(
    planProof({
      account,
      identity,
      state,
      file,
      minutes,
      perSecond: rate,
      settleMinutes: settle,
      keep,
      signal: stopping.signal,
      onProgress,
      deploy: () => deployWithCdk(runCommand, { stack, id: state.id, identity, context }),
    }),
  )
  const subject = {
    stack,
    account: identity.account,
    region: identity.region,
    load: `${runs} runs in ${minutes} minutes`,
  }
  const paths = writeReport(folder ?? `${FOLDER}/${stack}`, report, subject)
  console.log(formatProof(report, subject))
  console.error(`\nWritten to ${paths.join(' and ')}.`)
  if (file.read()) console.error(`The stack is still there: npm run proof -- --stack ${stack} --destroy`)
  process.exit(report.passed ? 0 : 1)
}

async function confirm(): Promise<void> {
  if (!stdin.isTTY) refuse('Without a terminal to ask, --yes is required.')
  const reader = createInterface({ input: stdin, output: stdout })
  const answer = await reader.question('Type the name of the stack to continue: ')
  reader.close()
  if (answer !== stack) refuse('Nothing was deployed.')
}
