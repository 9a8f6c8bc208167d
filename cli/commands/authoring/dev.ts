import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { AgentWatcher } from '../../../authoring/agent-watcher.ts'
import { dataFolder } from '../../../local/emulators/open-database.ts'
import { applyModelSettings } from '../../../local/model-settings.ts'
import { type DevOptions, runDevCycle } from '../../authoring/dev-cycle.ts'
import { reportError, UserError } from '../../errors.ts'
import { formatExamples } from '../../format.ts'
import { orgOption } from '../../options.ts'
import { toAction, write } from '../../output.ts'

export function addDevCommand(program: Command): void {
  program
    .command('dev')
    .description('Watch an agent: on each change, publish a draft and run a case on it. Ctrl-C stops.')
    .argument('<folder>', 'folder that contains agent.md')
    .option('--case <name>', 'case of cases.yaml to run; default: the first')
    .option(
      '--model <name>',
      'model to use instead of the one of the agent: {provider}/{model}[:{reasoning}]',
    )
    .option('--no-types', 'do not check the types of the code')
    .addOption(orgOption())
    .addHelpText('after', formatExamples('dev agents/redact-pii'))
    .action(toAction<DevOptions>((options, [folder = '']) => develop(folder, options)))
}

/** Never returns: Ctrl-C exits. */
async function develop(folder: string, options: DevOptions): Promise<never> {
  if (options.json) throw new UserError('dev prints progress; --json cannot be used.')
  if (!existsSync(folder)) throw new UserError(`${folder} does not exist.`)
  if (!options.stack) await applyModelSettings(dataFolder(), process.env)
  const watcher = new AgentWatcher(folder)
  const print = (text: string) => void write(process.stdout, `${text}\n`)
  for (;;) {
    const change = watcher.next()
    const cancel = new AbortController()
    void change.then(() => cancel.abort())
    const onSources = (sources: string[]) => watcher.add(sources)
    await runDevCycle({ folder, options, signal: cancel.signal, print, onSources }).catch((error) =>
      reportError(error, false),
    )
    if (!cancel.signal.aborted) print('Waiting for changes…\n')
    await change
  }
}
