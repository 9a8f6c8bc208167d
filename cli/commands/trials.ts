import type { Trial } from '../../clients/typescript/src/index.ts'
import { trialsCommand } from '../batches/come-back.ts'
import type { CliCommand } from '../command.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import { parseLimit, parseUuid } from '../options.ts'
import {
  findService,
  findSlugs,
  overHttp,
  patientClient,
  type RemoteOptions,
  runOverHttp,
} from '../remote.ts'
import { toDollars } from '../trials/describe-outcome.ts'
import { readOutcome } from '../trials/outcome.ts'
import { waitForTrial } from '../trials/wait.ts'
import { howToComeBack, whileShown } from './trial.ts'

const ID = '01a2003b-8f87-750a-aa33-59d20cae9811'

/** Commands on trials that were started: by `trial`, or by a program. */
export function addTrialsCommand(program: CliCommand): void {
  const trials = program.command('trials').description('List trials, and get or change one of them.')
  addListCommand(trials)
  addResultsCommand(trials)
  addCancelCommand(trials)
  addDeleteCommand(trials)
}

function addListCommand(trials: CliCommand): void {
  const list: CliCommand = trials
    .command('list', { isDefault: true })
    .description('List the trials, newest first.')
    .option('--agent <slug>', 'only of the agent with this slug or ID')
    .option('--version <id>', 'only of this version', parseUuid)
    .option('--limit <number>', 'how many (default: 50)', parseLimit)
    // Words that are no command.
    .allowExcessArguments()
    .examples('trials', 'trials list --agent triage-ticket --limit 10')
  runOverHttp<{ agent?: string; version?: string; limit?: number }>(
    list.hook('preAction', () => void (list.args.length > 0 && trials.unknownCommand())),
    { scope: 'read', action: 'list trials' },
    async (client, { agent, version, limit = 50, json }) => {
      const found: Trial[] = []
      for await (const trial of client.trials({ agent, version, limit: Math.min(limit, 100) }))
        if (found.push(trial) === limit) break
      if (json) return { json: found, text: '' }
      const slugs = await findSlugs(client, new Set(found.map(({ documentId }) => documentId)))
      const rows = found.map((trial) => [
        trial.id,
        slugs.get(trial.documentId) ?? trial.documentId,
        trial.versionId,
        trial.status,
        `${trial.counts.SUCCESS + trial.counts.ERROR} of ${trial.lines}`,
        toDollars(trial.costUsd),
        relativeTime(trial.createdAt),
      ])
      const header = ['TRIAL', 'AGENT', 'VERSION', 'STATUS', 'ENDED', 'COST', 'CREATED']
      const empty = `There are no trials. Start one: ${formatCommand({}, 'trial <slug> --max-cost <dollars>')}`
      return { json: found, text: textTable(header, rows, empty) }
    },
  )
}

type ResultsOptions = RemoteOptions & { report?: string }

function addResultsCommand(trials: CliCommand): void {
  overHttp(trials.command('results'), 'read')
    .description('Wait until a trial has ended, and show what came out. The exit code is that of `trial`.')
    .argument('<id>', 'ID of the trial', parseUuid)
    .option('--report <file>', 'write Markdown for a pull request')
    .examples(`trials results ${ID}`, `trials results ${ID} --report trial.md`)
    .run<ResultsOptions>(async (options, [id = '']) => {
      const remote = await findService(options)
      const client = patientClient(remote)
      return whileShown(
        options,
        remote.url,
        () => howToComeBack(id, options),
        async (onProgress) => readOutcome(client, await waitForTrial(client, id, onProgress)),
      )
    })
}

function addCancelCommand(trials: CliCommand): void {
  const command = trials
    .command('cancel')
    .description('Cancel a trial: no further execution starts, and those in progress end in ERROR.')
    .argument('<id>', 'ID of the trial', parseUuid)
    .examples(`trials cancel ${ID}`)
  runOverHttp(
    command,
    { scope: 'manage', action: 'cancel the trial' },
    async (client, options, [id = '']) => {
      const trial = await client.cancelTrial(id)
      const text = trial.status === 'ENDED' ? `Trial ${id} has ended.` : `Trial ${id} is being cancelled.`
      return { json: trial, text: `${text}\nResults: ${trialsCommand(`results ${id}`, options)}` }
    },
  )
}

function addDeleteCommand(trials: CliCommand): void {
  const command = trials
    .command('delete')
    .description('Delete a trial that has ended, with all its executions.')
    .argument('<id>', 'ID of the trial', parseUuid)
    .examples(`trials delete ${ID}`)
  runOverHttp(command, { scope: 'manage', action: 'delete the trial' }, async (client, _, [id = '']) => {
    await client.deleteTrial(id)
    return { json: { id, deleted: true }, text: `Deleted trial ${id} and its executions.` }
  })
}
