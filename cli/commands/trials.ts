import { randomUUID } from 'node:crypto'
import { AgentError, type Trial } from '../../clients/typescript/src/index.ts'
import { findReasons, type Outcome, toDollars } from '../../lib/contract/trial-outcome.ts'
import { toReport } from '../../lib/contract/trial-report.ts'
import { trialsCommand, typedArgs } from '../batches/come-back.ts'
import { whileWaiting } from '../batches/progress.ts'
import { NOWHERE } from '../batches/results.ts'
import {
  addCancelCommand,
  addDeleteCommand,
  addListCommand,
  endedOf,
  ID,
} from '../batches/shared-commands.ts'
import type { CliCommand, Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, relativeTime, shellQuote } from '../format.ts'
import { parseUuid, type SharedOptions } from '../options.ts'
import { callService, explainCall, findService, patientClient } from '../service.ts'
import { describeOutcome, readOutcome, waitForTrial } from '../trials/outcome.ts'
import { addTrialOptions, inOptions, type TrialOptions, toTrialBody } from '../trials/trial-body.ts'

type Options = SharedOptions & TrialOptions & { report?: string; idempotencyKey?: string }

const ACTION = 'try the version'

export function addTrialCommand(program: CliCommand): void {
  const command: CliCommand = program.command('trial')
  addTrialOptions(
    command
      .overHttp('manage and read')
      .description(
        'Try a version on executions that have ended: repeat them with their inputs and tool results, and compare the outputs. Ctrl-C leaves the trial running. The exit code is 1 if the trial does not allow a promotion: the gate of the current version is not met, or, without a gate, nothing was tried.',
      )
      .argument('<slug>', "the agent's slug or ID"),
  )
    .option('--report <file>', 'write Markdown for a pull request')
    .option(
      '--idempotency-key <key>',
      'continue what a command with this key has started in the last 24 hours',
    )
    .examples(
      'trial triage-ticket --last 200 --max-cost 2',
      'trial triage-ticket --corrected --max-cost 2 --report trial.md',
      'trial triage-ticket --models recorded --tools get_order=live --ignore /checkedAt',
    )
    .run<Options>((options, [agent = '']) => tryVersion(agent, options, command))
}

/** @throws UserError */
async function tryVersion(agent: string, options: Options, command: CliCommand): Promise<Result> {
  const { idempotencyKey = randomUUID() } = options
  const remote = await findService(options)
  const found = await callService(remote, ACTION, ({ client }) => client.agent(agent))
  const versionId = options.version ?? found.draftVersionId
  if (versionId === null) throw new UserError(`Agent ${found.slug} has no draft. Specify --version <id>.`)
  const client = patientClient(remote)
  let id: string | undefined
  const again = [...typedArgs(command), '--idempotency-key', idempotencyKey].map(shellQuote).join(' ')
  const comeBack = () =>
    id === undefined ? `Continue: ${formatCommand({}, again)}` : howToComeBack(id, options)
  return whileShown(options, remote.url, comeBack, async (onProgress) => {
    const started = client.createTrial(found.id, versionId, toTrialBody(options), { idempotencyKey })
    ;({ id } = await started.catch((error: unknown) => {
      if (!(error instanceof AgentError) || error.status !== 422) throw error
      // Shown as an error of the command line is, with exit code 2.
      return command.error(`error: Cannot ${ACTION}: ${inOptions(error.detail)}`, { exitCode: 2 })
    }))
    return readOutcome(client, await waitForTrial(client, id, onProgress))
  })
}

const howToComeBack = (id: string, options: SharedOptions & { report?: string }): string => {
  const report = options.report === undefined ? '' : ` --report ${shellQuote(options.report)}`
  return [
    `Results: ${trialsCommand(`results ${id}${report}`, options)}`,
    `Cancel: ${trialsCommand(`cancel ${id}`, options)}`,
  ].join('\n')
}

/**
 * Shows how far a trial is, then what came out.
 * @param comeBack says how to continue when the command ends before the trial
 * @throws UserError
 */
async function whileShown(
  options: SharedOptions & { report?: string },
  url: string,
  comeBack: () => string,
  work: (onProgress: (trial: Trial) => void) => Promise<Outcome>,
): Promise<Result> {
  const { report: out = NOWHERE } = options
  const describeStop = () => `Stopped waiting.\n${comeBack()}`
  const waiting = whileWaiting({ out, describeStop }, async (progress, file) => {
    const outcome = await work((trial) => void progress.update(trial))
    await file.write(toReport(outcome, trialsCommand(`results ${outcome.trial.id}`, {})))
    await file.finish()
    return toResult(outcome, options)
  })
  return waiting.catch((error: unknown) => {
    if (!(error instanceof AgentError)) throw error
    const { message, details } = explainCall(error, url, ACTION)
    throw new UserError([message, comeBack()].join('\n'), { details })
  })
}

function toResult(outcome: Outcome, options: SharedOptions): Result {
  const { trial, slug, gate, items } = outcome
  // As the service decides about a promotion.
  const unmet = findReasons(trial, gate ?? {})
  const isMet = unmet.length === 0
  const promote = formatCommand(options, `promote ${slug} ${trial.versionId} --trial ${trial.id}`)
  return {
    json: { trial, gate, isMet, unmet, items },
    text: [describeOutcome(outcome), ...(isMet ? [`Promote: ${promote}`] : [])].join('\n'),
    hasFailed: !isMet,
  }
}

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
