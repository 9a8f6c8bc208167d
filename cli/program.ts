import { resolve } from 'node:path'
import type { Command, OutputConfiguration } from 'commander'
import { dataFolder } from '../local/data-folder.ts'
import packageJson from '../package.json' with { type: 'json' }
import { CliCommand } from './command.ts'
import { addArchiveCommands, addListCommand, addShowCommand } from './commands/agents.ts'
import { addApprovalsCommands } from './commands/approvals.ts'
import { addAuditCommand } from './commands/audit.ts'
import { addBatchCommand } from './commands/batch.ts'
import { addBatchesCommand } from './commands/batches.ts'
import { addCasesCommands } from './commands/cases.ts'
import { addCompareCommand } from './commands/compare.ts'
import { addDevCommand } from './commands/dev.ts'
import { addDiffCommand } from './commands/diff.ts'
import { addInitCommand } from './commands/init.ts'
import { addLimitsCommand } from './commands/limits.ts'
import { addOpenCommand } from './commands/open.ts'
import { addOrgsCommand } from './commands/orgs.ts'
import { addPublishCommand } from './commands/publish.ts'
import { addRerunCommand } from './commands/rerun.ts'
import { addRolloutCommand } from './commands/rollout.ts'
import { addRunCommand } from './commands/run.ts'
import { addSchedulesCommand } from './commands/schedules.ts'
import { addTableCommand } from './commands/table.ts'
import { addCheckCommand, addTestCommand } from './commands/test.ts'
import { addTokensCommand } from './commands/tokens.ts'
import { addTrialCommand } from './commands/trial.ts'
import { addTrialsCommand } from './commands/trials.ts'
import { addTypesCommand } from './commands/types.ts'
import { addUsageCommand } from './commands/usage.ts'
import {
  addDeleteVersionCommand,
  addPromoteCommand,
  addRetireCommands,
  addVersionsCommand,
} from './commands/versions.ts'
import { addWebhooksCommand } from './commands/webhooks.ts'
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
  const program = createProgram({ writeErr: (text) => asJson || process.stderr.write(text) })
  restoreWorkingDirectory()
  try {
    if (VERSION_OPTIONS.includes(args[0] ?? '')) await write(process.stdout, formatVersion(asJson))
    else {
      assertNoOptionsOfNpm(program, args)
      await program.parseAsync(args, { from: 'user' })
    }
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
    `npm took ${names} for itself, and nothing was done. Type -- before the command: ${formatCommand({}, [...words, ...flags].join(' '))}`,
  )
}

/** The command line with all commands. Parsing throws a `CommanderError` on wrong usage. */
export function createProgram(output: OutputConfiguration): Command {
  const program = new CliCommand('npm run agents --')
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
    .addHelpText('after', '\nIn scripts, use npm run --silent to keep npm’s own output out of stdout.')
    .showHelpAfterError('Use --help for options and examples.')
    .exitOverride()
  addInitCommand(program)
  addCheckCommand(program)
  addTestCommand(program)
  addDevCommand(program)
  addCasesCommands(program)
  addPublishCommand(program)
  addListCommand(program)
  addShowCommand(program)
  addVersionsCommand(program)
  addTrialCommand(program)
  addTrialsCommand(program)
  addPromoteCommand(program)
  addRolloutCommand(program)
  addDiffCommand(program)
  addDeleteVersionCommand(program)
  addRetireCommands(program)
  addArchiveCommands(program)
  addRunCommand(program)
  addRerunCommand(program)
  addCompareCommand(program)
  addBatchCommand(program)
  addBatchesCommand(program)
  addApprovalsCommands(program)
  addSchedulesCommand(program)
  addUsageCommand(program)
  addLimitsCommand(program)
  addTypesCommand(program)
  addWebhooksCommand(program)
  addTokensCommand(program)
  addAuditCommand(program)
  addOrgsCommand(program)
  addOpenCommand(program)
  addTableCommand(program)
  return program
}

/**
 * npm runs scripts in the package's folder. Changes back to the caller's, so that relative paths work as typed; the
 * data folder stays the one that `npm start` uses.
 */
function restoreWorkingDirectory(environment: NodeJS.ProcessEnv = process.env): void {
  if (environment.npm_lifecycle_event !== 'agents' || !environment.INIT_CWD) return
  environment.DATA_DIR = resolve(dataFolder(environment))
  process.chdir(environment.INIT_CWD)
}
