import { resolve } from 'node:path'
import type { Command, OutputConfiguration } from 'commander'
import { dataFolder } from '../local/data-folder.ts'
import packageJson from '../package.json' with { type: 'json' }
import { CliCommand } from './command.ts'
import { reportError, UserError } from './errors.ts'
import { formatCommand } from './format.ts'
import { toJsonText, unlessInterrupted, write } from './terminal.ts'

/** Not an option of the program in Commander, which would also match the option of `run`. */
const VERSION_OPTIONS = ['--version', '-V']

const formatVersion = (asJson: boolean): string =>
  asJson ? toJsonText({ version: packageJson.version }) : `${packageJson.version}\n`

/** Runs a command. Returns the exit code: 0 success, 1 error, 2 wrong usage. */
export async function runProgram(args: string[]): Promise<number> {
  const asJson = args.includes('--json')
  if (VERSION_OPTIONS.includes(args[0] ?? '')) {
    await write(process.stdout, formatVersion(asJson))
    return 0
  }
  restoreWorkingDirectory()
  try {
    const program = await createProgram({ writeErr: (text) => asJson || process.stderr.write(text) }, args)
    assertNoOptionsOfNpm(program, args)
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // After a signal, errors are only a consequence of the cleanup.
    return unlessInterrupted(() => reportError(error, asJson))
  } finally {
    await write(process.stdout, '')
  }
}

/** What npm passes to every script (`cache`), and what `npx -y` adds. */
const SET_BY_NPM = ['cache', 'yes']

/**
 * Without `--`, npm takes options for itself: `npm run agents publish <folder> --draft` would publish live. npm passes
 * them as variables: https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
 * @throws UserError that says what to type
 */
export function assertNoOptionsOfNpm(
  program: Command,
  args: string[],
  environment: NodeJS.ProcessEnv = process.env,
): void {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const commands = [program]
  for (const word of words) {
    const found: Command | undefined = commands.at(-1)?.commands.find((each) => each.name() === word)
    if (!found) break
    commands.push(found)
  }
  const taken = commands.flatMap(({ options }) =>
    options.filter(({ long }) => {
      const name = (long ?? '').replace(/^--(no-)?/, '')
      const isSet = environment[`npm_config_${name.replaceAll('-', '_')}`] !== undefined
      return isSet && !SET_BY_NPM.includes(name) && !args.some((arg) => arg.split('=')[0] === long)
    }),
  )
  if (taken.length === 0) return
  const [names, flags] = [taken.map(({ long }) => long).join(' and '), taken.map((each) => each.flags)]
  throw new UserError(
    `npm took ${names} for itself, and nothing was done. Type: ${formatCommand({}, [...words, ...flags].join(' '))}`,
  )
}

type Add = (program: CliCommand) => void

/** The commands in the order of the help, by name: only the one that runs is loaded. */
const COMMANDS: Record<string, () => Promise<Add>> = {
  init: async () => (await import('./commands/init.ts')).addInitCommand,
  start: async () => (await import('./commands/start.ts')).addStartCommand,
  check: async () => (await import('./commands/test.ts')).addCheckCommand,
  test: async () => (await import('./commands/test.ts')).addTestCommand,
  dev: async () => (await import('./commands/dev.ts')).addDevCommand,
  cases: async () => (await import('./commands/cases.ts')).addCasesCommands,
  publish: async () => (await import('./commands/publish.ts')).addPublishCommand,
  list: async () => (await import('./commands/agents.ts')).addListCommand,
  show: async () => (await import('./commands/agents.ts')).addShowCommand,
  versions: async () => (await import('./commands/versions.ts')).addVersionsCommand,
  trial: async () => (await import('./commands/trials.ts')).addTrialCommand,
  trials: async () => (await import('./commands/trials.ts')).addTrialsCommand,
  promote: async () => (await import('./commands/versions.ts')).addPromoteCommand,
  rollout: async () => (await import('./commands/rollout.ts')).addRolloutCommand,
  diff: async () => (await import('./commands/diff.ts')).addDiffCommand,
  'delete-version': async () => (await import('./commands/versions.ts')).addDeleteVersionCommand,
  retire: async () => (await import('./commands/versions.ts')).addRetireCommand,
  unretire: async () => (await import('./commands/versions.ts')).addUnretireCommand,
  archive: async () => (await import('./commands/agents.ts')).addArchiveCommand,
  restore: async () => (await import('./commands/agents.ts')).addRestoreCommand,
  run: async () => (await import('./commands/run.ts')).addRunCommand,
  rerun: async () => (await import('./commands/rerun.ts')).addRerunCommand,
  compare: async () => (await import('./commands/compare.ts')).addCompareCommand,
  batch: async () => (await import('./commands/batch.ts')).addBatchCommand,
  batches: async () => (await import('./commands/batches.ts')).addBatchesCommand,
  approvals: async () => (await import('./commands/approvals.ts')).addApprovalsCommand,
  approve: async () => (await import('./commands/approvals.ts')).addApproveCommand,
  reject: async () => (await import('./commands/approvals.ts')).addRejectCommand,
  signal: async () => (await import('./commands/approvals.ts')).addSignalCommand,
  schedules: async () => (await import('./commands/schedules.ts')).addSchedulesCommand,
  usage: async () => (await import('./commands/usage.ts')).addUsageCommand,
  scores: async () => (await import('./commands/scores.ts')).addScoresCommand,
  limits: async () => (await import('./commands/limits.ts')).addLimitsCommand,
  types: async () => (await import('./commands/types.ts')).addTypesCommand,
  webhooks: async () => (await import('./commands/webhooks.ts')).addWebhooksCommand,
  tokens: async () => (await import('./commands/tokens.ts')).addTokensCommand,
  audit: async () => (await import('./commands/audit.ts')).addAuditCommand,
  orgs: async () => (await import('./commands/orgs.ts')).addOrgsCommand,
  executions: async () => (await import('./commands/executions.ts')).addExecutionsCommand,
  open: async () => (await import('./commands/open.ts')).addOpenCommand,
  deploy: async () => (await import('./commands/deploy.ts')).addDeployCommand,
  table: async () => (await import('./commands/table.ts')).addTableCommand,
}

/**
 * The command line with the commands that arguments name; with all of them if they name none. Parsing throws a
 * `CommanderError` on wrong usage.
 */
export async function createProgram(output: OutputConfiguration, args: string[] = []): Promise<Command> {
  const named = args.filter((arg) => Object.hasOwn(COMMANDS, arg))
  const loading = (named.length > 0 ? named : Object.keys(COMMANDS)).map((name) => COMMANDS[name]?.())
  const program = newProgram(output)
  for (const add of new Set(await Promise.all(loading))) add?.(program)
  return program
}

const newProgram = (output: OutputConfiguration): CliCommand =>
  new CliCommand('agent-execution')
    .description('Write, publish and run agents, and manage organizations and API tokens.')
    .option('--json', 'print one JSON document to stdout')
    .option('--stack <name>', 'use the table of a deployed CloudFormation stack instead of the local table')
    .option(
      '--create-data-folder',
      'create the data folder without asking, also while a service runs on another',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(output)
    .addHelpText('after', '\nWithout a command, --version prints the version of this package.')
    .showHelpAfterError('Use --help for options and examples.')
    .exitOverride()

/**
 * npm runs scripts in the package's folder. Changes back to the caller's, so that relative paths work as typed; the
 * data folder stays the one that `npm start` uses.
 */
function restoreWorkingDirectory(environment: NodeJS.ProcessEnv = process.env): void {
  if (environment.npm_lifecycle_event !== 'agents' || !environment.INIT_CWD) return
  environment.DATA_DIR = resolve(dataFolder(environment))
  process.chdir(environment.INIT_CWD)
}
