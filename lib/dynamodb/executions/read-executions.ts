import type { Execution, ExecutionSummary, Feedback } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { executionKey } from '../table/keys.ts'
import { loadIfComplete } from '../table/payload.ts'
import type { Item, Table } from '../table/table.ts'
import {
  type ExecutionItem,
  feedbackOf,
  loadExecution,
  parseError,
  SUMMARY_ATTRIBUTES,
  toSummary,
} from './execution-item.ts'

/** What BatchGetItem reads at once: 16 MB at most, because an item has no payload of more than 16 kB. */
const IDS_PER_READ = 100

const RESULT_ATTRIBUTES = ['id', 'status', 'output', 'error'] satisfies (keyof ExecutionItem)[]

type Params = { organizationId: string; ids: string[] }

/** Executions by their ids. */
export const executionReaders = (
  table: Table,
): Pick<ExecutionStore, 'readFeedback' | 'readMany' | 'readResults' | 'readSummaries'> => ({
  readMany: (params) => read<Execution>(table, params, undefined, (item) => loadExecution(table, item)),

  readSummaries: (params) => read<ExecutionSummary>(table, params, SUMMARY_ATTRIBUTES, toSummary),

  readFeedback: ({ teachers, ...params }) =>
    read(table, params, ['id', 'feedback', 'feedbackIsNoReview', 'review'], async (item) => {
      const stored = feedbackOf(item, teachers)
      const loaded = stored && (await loadIfComplete(table, executionKey(item.id), stored))
      return (loaded ?? null) as Feedback | null
    }),

  readResults: (params) =>
    read(table, params, RESULT_ATTRIBUTES, async ({ id, status, output, error }) => {
      // Null as well if the execution was deleted since.
      const loaded = output && (await loadIfComplete(table, executionKey(id), output))
      if (output && !loaded) return null
      return { id, status, output: (loaded ?? null) as JsonObject | null, error: parseError(error, id) }
    }),
})

/** Consistent: who knows that an execution has ended finds its result. */
async function* read<T>(
  table: Table,
  { organizationId, ids }: Params,
  names: string[] | undefined,
  load: (item: Item & ExecutionItem) => Promise<T | null> | T | null,
): AsyncGenerator<T | null> {
  const attributes = names && [...new Set([...names, 'organizationId', 'deleted'])]
  for (let first = 0; first < ids.length; first += IDS_PER_READ) {
    const part = ids.slice(first, first + IDS_PER_READ)
    const items = await table.getMany(part.map(executionKey), { consistent: true, attributes })
    const found = new Map(items.map((item) => [item.pk, item]))
    for (const id of part) {
      const item = found.get(executionKey(id).pk) as (Item & ExecutionItem) | undefined
      const isReadable = item?.organizationId === organizationId && !item.deleted
      yield isReadable ? await load(item) : null
    }
  }
}
