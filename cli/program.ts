import { Command, type OutputConfiguration } from 'commander'
import { addList } from './commands/list.ts'
import { addOrgs } from './commands/orgs.ts'
import { addPublish } from './commands/publish.ts'
import { addRun } from './commands/run.ts'
import { addShow } from './commands/show.ts'
import { addTokens } from './commands/tokens.ts'
import { addVersions } from './commands/versions.ts'

const COMMANDS = [addPublish, addList, addShow, addVersions, addRun, addTokens, addOrgs]

/** The operator's command line, all commands in it. Parsing throws a `CommanderError` on wrong usage. */
export function createProgram(output: OutputConfiguration): Command {
  const program = new Command('npm run agents --')
    .description('Publishes and runs agents, and manages organizations and their tokens.')
    .option('--json', 'print one JSON document to stdout and nothing else')
    .option('--stack <name>', 'use the deployed table of this CloudFormation stack instead of the local one')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(output)
    .addHelpText('after', '\nIn scripts, npm run --silent keeps the lines of npm out of stdout.')
    .showHelpAfterError('Add --help to see an example.')
    .exitOverride()
  for (const add of COMMANDS) add(program)
  return program
}
