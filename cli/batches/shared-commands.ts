import type { Batch, Client } from '../../clients/typescript/src/index.ts'
import type { Scope } from '../../lib/core/access.ts'
import type { CliCommand } from '../command.ts'
import { textTable } from '../format.ts'
import { parseLimit, parseUuid, type SharedOptions } from '../options.ts'
import { findSlugs } from '../service.ts'
import { take } from '../take.ts'

/** In examples. */
export const ID = '01a2003b-8f87-750a-aa33-59d20cae9811'

/** A trial is a batch: what commands do with both is the same. */
type Kind = 'batch' | 'trial'
const PLURALS = { batch: 'batches', trial: 'trials' } as const

export const endedOf = ({ counts }: Pick<Batch, 'counts'>): number => counts.SUCCESS + counts.ERROR

type List<Item, Filter> = {
  addFilter: (list: CliCommand) => CliCommand
  read: (client: Client, options: Filter & { limit: number }) => AsyncIterable<Item>
  header: string[]
  toRow: (item: Item, slug: string) => string[]
  empty: string
}

export function addListCommand<Item extends { documentId: string }, Filter extends object>(
  parent: CliCommand,
  kind: Kind,
  { addFilter, read, header, toRow, empty }: List<Item, Filter>,
): void {
  const plural = PLURALS[kind]
  addFilter(
    parent
      .command('list', { isDefault: true })
      .description(`List the ${plural}, newest first.`)
      .option('--agent <slug>', 'only of the agent with this slug or ID'),
  )
    .option('--limit <number>', 'how many (default: 50)', parseLimit)
    // Words that are no command.
    .allowExcessArguments()
    .examples(plural, `${plural} list --agent triage-ticket --limit 10`)
    .hook('preAction', (list) => void (list.args.length > 0 && parent.unknownCommand()))
    .runWithService<Filter & { limit?: number }>('read', `list ${plural}`, async (client, options) => {
      const { limit = 50, json } = options
      const found = await take(read(client, { ...options, limit: Math.min(limit, 100) }), limit)
      if (json) return { json: found, text: '' }
      const slugs = await findSlugs(client, new Set(found.map(({ documentId }) => documentId)))
      const rows = found.map((item) => toRow(item, slugs.get(item.documentId) ?? item.documentId))
      return { json: found, text: textTable(header, rows, empty) }
    })
}

type Cancel = {
  scope: Scope
  description: string
  cancel: (client: Client, id: string) => Promise<Pick<Batch, 'status'>>
  /** The command that shows the results. */
  resultsOf: (id: string, options: SharedOptions) => string
}

export function addCancelCommand(
  parent: CliCommand,
  kind: Kind,
  { scope, description, cancel, resultsOf }: Cancel,
): void {
  parent
    .command('cancel')
    .description(description)
    .argument('<id>', `ID of the ${kind}`, parseUuid)
    .examples(`${PLURALS[kind]} cancel ${ID}`)
    .runWithService(scope, `cancel the ${kind}`, async (client, options, [id = '']) => {
      const cancelled = await cancel(client, id)
      const state = cancelled.status === 'ENDED' ? 'has ended' : 'is being cancelled'
      const name = kind === 'batch' ? 'Batch' : 'Trial'
      return { json: cancelled, text: `${name} ${id} ${state}.\nResults: ${resultsOf(id, options)}` }
    })
}

export function addDeleteCommand(
  parent: CliCommand,
  kind: Kind,
  remove: (client: Client, id: string) => Promise<unknown>,
): void {
  parent
    .command('delete')
    .description(`Delete a ${kind} that has ended, with all its executions.`)
    .argument('<id>', `ID of the ${kind}`, parseUuid)
    .examples(`${PLURALS[kind]} delete ${ID}`)
    .runWithService('manage', `delete the ${kind}`, async (client, _, [id = '']) => {
      await remove(client, id)
      return { json: { id, deleted: true }, text: `Deleted ${kind} ${id} and its executions.` }
    })
}
