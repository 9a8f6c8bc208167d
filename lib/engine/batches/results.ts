import type { Batch, LineResult } from '../../core/batch.ts'
import { BY_LINE, type PageQuery, parsePage } from '../../core/cursor.ts'
import type { ExecutionResult } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { MAX_ESCAPED_PAGE_BYTES, RESULT_PAGE_SIZE } from '../../core/limits.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page } from '../../core/ports/system.ts'
import { zip } from '../../core/read-pages.ts'
import { readLines } from './read-lines.ts'

type Stores = {
  batches: Pick<BatchStore, 'readBlock'>
  executions: Pick<ExecutionStore, 'readResults'>
}

/**
 * The results of a batch in the order of its lines, from this line on and before another, open ones included. It reads
 * what it is asked for: at most one block of lines, a hundred executions and one large output are in memory.
 */
export async function* readResults(
  { batches, executions }: Stores,
  batch: Batch,
  from = 0,
  to = batch.lines,
): AsyncGenerator<LineResult> {
  const { organizationId } = batch
  for await (const lines of readLines({ batches }, batch, from, to)) {
    const ids = lines.map(({ executionId }) => executionId)
    for await (const [{ customId }, result] of zip(lines, executions.readResults({ organizationId, ids })))
      yield { customId, ...(result ? ofExecution(result) : withoutExecution(batch)) }
  }
}

/**
 * A page of them, as many as a response can carry. At least one is on it, however large.
 * @throws InvalidCursor
 */
export async function readResultPage(
  stores: Stores,
  batch: Batch,
  query: PageQuery,
): Promise<Page<LineResult>> {
  const { limit, after } = parsePage({ ...query, limit: query.limit ?? RESULT_PAGE_SIZE.default }, BY_LINE)
  const from = Number(after?.order ?? 0)
  const items: LineResult[] = []
  let bytes = 0
  for await (const result of readResults(stores, batch, from, Math.min(from + limit, batch.lines))) {
    bytes += Buffer.byteLength(JSON.stringify(result))
    if (bytes > MAX_ESCAPED_PAGE_BYTES && items.length > 0) break
    items.push(result)
  }
  const line = from + items.length
  return { items, next: line < batch.lines ? { order: String(line) } : null }
}

const ofExecution = ({ id, status, output, error }: ExecutionResult) => ({
  executionId: id,
  status,
  output,
  error,
})

/** A line that has no execution has not started, was not started any more, or its execution was deleted. */
export function withoutExecution({ status, stopped }: Batch) {
  const error = stopped ?? (status === 'ENDED' ? NOT_FOUND : null)
  return {
    executionId: null,
    status: error ? ('ERROR' as const) : ('IN_PROGRESS' as const),
    output: null,
    error,
  }
}

const NOT_FOUND: ExecutionError = {
  code: 'ExecutionNotFound',
  message: 'The execution of this line was deleted.',
}
