import type { Trial } from '../../clients/typescript/src/index.ts'
import { toDollars } from '../../lib/contract/trial-outcome.ts'
import { trialsCommand } from '../batches/come-back.ts'
import {
  addCancelCommand,
  addDeleteCommand,
  addListCommand,
  endedOf,
  ID,
} from '../batches/shared-commands.ts'
import type { CliCommand } from '../command.ts'
import { formatCommand, relativeTime } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { parseUuid } from '../options.ts'
import { findService, patientClient } from '../service.ts'
import { readOutcome } from '../trials/outcome.ts'
import { waitForTrial } from '../trials/wait.ts'
import { howToComeBack, whileShown } from './trial.ts'

/** Commands on trials that were started: by `trial`, or by a program. */
export function addTrialsCommand(program: CliCommand): void {
  const trials = program.command('trials').description('List trials, and get or change one of them.')
  addListCommand<Trial, { agent?: string; version?: string }>(trials, 'trial', {
    addFilter: (list) => list.option('--version <id>', 'only of this version', parseUuid),
    read: (client, { agent, version, limit }) => client.trials({ agent, version, limit }),
    header: ['TRIAL', 'AGENT', 'VERSION', 'STATUS', 'ENDED', 'COST', 'CREATED'],
    toRow: (trial, slug) => [
      ...[trial.id, slug, trial.versionId, trial.status, `${endedOf(trial)} of ${trial.lines}`],
      ...[toDollars(trial.costUsd), relativeTime(trial.createdAt)],
    ],
    empty: `There are no trials. Start one: ${formatCommand({}, 'trial <slug> --max-cost <dollars>')}`,
  })
  addResultsCommand(trials)
  addCancelCommand(trials, 'trial', {
    scope: 'manage',
    description: 'Cancel a trial: no further execution starts, and those in progress end in ERROR.',
    cancel: (client, id) => client.cancelTrial(id),
    resultsOf: (id, options) => trialsCommand(`results ${id}`, options),
  })
  addDeleteCommand(trials, 'trial', (client, id) => client.deleteTrial(id))
}

type ResultsOptions = SharedOptions & { report?: string }

function addResultsCommand(trials: CliCommand): void {
  trials
    .command('results')
    .overHttp('read')
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
