import type { Batch, Client } from '../../clients/typescript/src/index.ts'
import { batchesCommand, resultsCommand } from '../batches/come-back.ts'
import { whileWaiting } from '../batches/progress.ts'
import { toResult, writeResults } from '../batches/results.ts'
import {
  addCancelCommand,
  addDeleteCommand,
  addListCommand,
  endedOf,
  ID,
} from '../batches/shared-commands.ts'
import type { CliCommand, Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, labelled, relativeTime } from '../format.ts'
import { parseAs, parseUuid, type SharedOptions } from '../options.ts'
import { explainCall, findService, patientClient } from '../service.ts'

/** Commands on batches that were started: by `batch`, or by a program. */
export function addBatchesCommand(program: CliCommand): void {
  const batches = program.command('batches').description('List batches, and get or change one of them.')
  addListCommand<Batch, { agent?: string; tenant?: string }>(batches, 'batch', {
    addFilter: (list) => list.option('--tenant <id>', 'only of this tenant', parseAs('tenantId')),
    read: (client, { agent, tenant: tenantId, limit }) => client.batches({ agent, tenantId, limit }),
    header: ['BATCH', 'AGENT', 'STATUS', 'ENDED', 'FAILED', 'COST', 'CREATED'],
    toRow: (batch, slug) => [
      ...[batch.id, slug, batch.status, `${endedOf(batch)} of ${batch.lines}`, String(batch.counts.ERROR)],
      ...[costOf(batch), relativeTime(batch.createdAt)],
    ],
    empty: `There are no batches. Start one: ${formatCommand({}, 'batch <slug> <file>')}`,
  })
  addGetCommand(batches)
  addResultsCommand(batches)
  addCancelCommand(batches, 'batch', {
    scope: 'run',
    description: 'Cancel a batch: no further line starts, and those in progress end in ERROR.',
    cancel: (client, id) => client.cancelBatch(id),
    resultsOf: (id, options) => resultsCommand([id], options, '-'),
  })
  addRetryCommand(batches)
  addDeleteCommand(batches, 'batch', (client, id) => client.deleteBatch(id))
}

const costOf = ({ costUsd }: Batch): string => (costUsd > 0 ? `$${Number(costUsd.toPrecision(3))}` : '-')

function addGetCommand(batches: CliCommand): void {
  batches
    .command('get')
    .description('Show a batch: how far it is, and its options.')
    .argument('<id>', 'ID of the batch', parseUuid)
    .examples(`batches get ${ID}`)
    .runWithService('read', 'get the batch', async (client, _, [id = '']) => {
      const batch = await client.getBatch(id)
      return { json: batch, text: describe(batch) }
    })
}

const describe = (batch: Batch): string =>
  labelled(
    [
      ['id', batch.id],
      ['agent', batch.documentId],
      ['version', batch.versionId],
      ['tenant', batch.tenantId ?? '-'],
      ['status', batch.status],
      ['ended', `${endedOf(batch)} of ${batch.lines}`],
      ['failed', `${batch.counts.ERROR}, of which ${batch.cancelled} were cancelled`],
      ...(batch.waiting ? [['waiting', `${batch.waiting}: ${describeWaits(batch)}`]] : []),
      ['cost', `${costOf(batch)}${batch.maxBatchCostUsd === null ? '' : ` of $${batch.maxBatchCostUsd}`}`],
      ['concurrency', String(batch.maxConcurrency)],
      ...(batch.retryOf ? [['retry of', batch.retryOf]] : []),
      ...(batch.error ? [['stopped', `${batch.error.code}: ${batch.error.message}`]] : []),
      ['created', batch.createdAt],
      ['ended at', batch.endedAt ?? '-'],
    ],
    15,
  )

const describeWaits = ({ waitingFor }: Batch): string =>
  waitingFor.map(({ kind, name, lines }) => `${kind} ${name} ${lines}`).join(', ')

type ResultsOptions = SharedOptions & { out?: string; wait?: boolean }

function addResultsCommand(batches: CliCommand): void {
  batches
    .command('results')
    .overHttp('read')
    .description(
      'Write the results of batches in the order of their lines, when they have ended. The exit code is 1 if a line has failed.',
    )
    .argument('<id...>', 'IDs of batches, whose results follow each other')
    .option(
      '--out <file>',
      'file for the results, which appears when it is complete; default: standard output',
    )
    .option('--no-wait', 'write what is known now')
    .examples(`batches results ${ID} --out results.ndjson`, `batches results ${ID} --no-wait`)
    .run<ResultsOptions>((options, args) =>
      writeAll((args as unknown as [string[]])[0].map(parseUuid), options),
    )
}

const ACTION = 'get the results'

/** @throws UserError */
async function writeAll(ids: string[], options: ResultsOptions): Promise<Result> {
  const { out = '-', wait } = options
  if (options.json && out === '-')
    throw new UserError('With --json, standard output is for the summary: add --out <file> for the results.')
  const remote = await findService(options)
  const client = patientClient(remote)
  const describeStop = () => `Stopped waiting. Again: ${resultsCommand(ids, options, out)}`
  const writing = whileWaiting({ out, describeStop }, async (progress, file) => {
    const onProgress = wait ? (batch: Batch) => void progress.update(batch) : undefined
    const summary = await writeResults(readAll(client, ids, onProgress), file)
    const hint = ids.map((id) => `Retry: ${batchesCommand(`retry ${id}`, options)}`).join('\n')
    return toResult(ids, summary, out, hint)
  })
  return writing.catch((error: unknown) => {
    throw error instanceof UserError ? error : explainCall(error, remote.url, ACTION)
  })
}

async function* readAll(client: Client, ids: string[], onProgress: ((batch: Batch) => void) | undefined) {
  for (const id of ids) {
    const batch = await (onProgress ? client.waitForBatch(id, { onProgress }) : client.getBatch(id))
    yield* client.batchResults(batch, { timeoutMs: Number.POSITIVE_INFINITY })
  }
}

function addRetryCommand(batches: CliCommand): void {
  batches
    .command('retry')
    .description('Start a new batch of the lines of a batch that failed. It has the same options.')
    .argument('<id>', 'ID of a batch that has ended', parseUuid)
    .option('--version <id>', 'version to run (default: that of the batch)', parseUuid)
    .option('--idempotency-key <key>', 'commands with the same key start one batch')
    .examples(`batches retry ${ID}`)
    .runWithService<{ idempotencyKey?: string; version?: string }>(
      'run',
      'retry the batch',
      async (client, options, [id = '']) => {
        const { idempotencyKey, version } = options
        const batch = await client.retryBatch(id, { idempotencyKey, version })
        const note = `Started batch ${batch.id}. Results: ${resultsCommand([batch.id], options, '-')}`
        return { json: batch, text: batch.id, note }
      },
    )
}
