import type { ExecutionSummary } from '../../clients/typescript/src/index.ts'
import { executionPageParameters } from '../../lib/contract/parameters/executions.ts'
import type { CliCommand, Result } from '../command.ts'
import { relativeTime, textTable, toSingleLine } from '../format.ts'
import { parseAs, parseLimit, parseWith } from '../options.ts'
import { findSlugs } from '../service.ts'
import { take } from '../take.ts'

const { key, status, errorCode } = executionPageParameters.shape

type Options = {
  key?: string
  tenant?: string
  status?: ExecutionSummary['status']
  errorCode?: string
  limit: number
}

/** Lists executions through the service, as `open` lists those in progress of all organizations in a table. */
export function addExecutionsCommand(program: CliCommand): void {
  program
    .command('executions')
    .description('List executions, newest first.')
    .argument('[slug]', 'only of the agent with this slug or ID')
    .option('--key <name:value>', 'only with this key, or with {name}:{prefix}*', (text) =>
      parseWith(key, text),
    )
    .option('--tenant <id>', 'only of this tenant', parseAs('tenantId'))
    .option('--status <status>', 'IN_PROGRESS, SUCCESS or ERROR', (text) => parseWith(status, text))
    .option('--error-code <code>', 'only those that failed with it', (text) => parseWith(errorCode, text))
    .option('--limit <number>', 'how many to show', parseLimit, 50)
    .examples('executions refund --key orderId:O-1300', "executions --key 'orderId:O-13*' --tenant acme")
    .runWithService<Options>('read', 'list executions', async (client, options, [agent]): Promise<Result> => {
      const { tenant: tenantId, limit, key, status, errorCode } = options
      const filters = { agent, key, tenantId, status, errorCode, fields: 'summary' } as const
      const found = await take(client.executions({ ...filters, limit: Math.min(limit, 100) }), limit)
      const slugs = await findSlugs(client, new Set(found.map(({ documentId }) => documentId)))
      const rows = found.map(({ id, documentId, tenantId, status, keys = {}, createdAt }) => [
        id,
        slugs.get(documentId) ?? documentId,
        tenantId ?? '-',
        status,
        toSingleLine(
          Object.entries(keys)
            .map((each) => each.join(':'))
            .join(' '),
        ) || '-',
        relativeTime(createdAt),
      ])
      const header = ['EXECUTION', 'AGENT', 'TENANT', 'STATUS', 'KEYS', 'CREATED']
      return { json: found, text: textTable(header, rows, 'No execution matches.') }
    })
}
