import { type Batch, blockOf, lineExecutionId, type TrialItem } from '../../core/batch.ts'
import { BY_LINE, type PageQuery, parsePage } from '../../core/cursor.ts'
import { isFinal } from '../../core/execution.ts'
import type { BatchStore, ExecutionStore, Page } from '../../core/ports.ts'
import { judgementOf, type Verdict } from '../../core/trial.ts'
import { type BatchReference, findBatch } from '../batches/read.ts'
import { withoutExecution } from '../batches/results.ts'

type Stores = {
  batches: Pick<BatchStore, 'get' | 'readBlock'>
  executions: Pick<ExecutionStore, 'readSummaries'>
}

/** Lines that one read looks at. */
const READ_SIZE = 100

/**
 * A page of the lines of a trial, in the order of its originals. With a verdict, it looks at as many lines as it needs:
 * a trial has no more than a request can read.
 * @throws TrialNotFound, InvalidCursor
 */
export async function listItems(
  stores: Stores,
  {
    query: { verdict, ...query },
    ...reference
  }: BatchReference & { query: PageQuery & { verdict?: Verdict | undefined } },
): Promise<Page<TrialItem>> {
  const { limit, after } = parsePage(query, BY_LINE)
  const batch = await findBatch(stores, reference)
  const items: TrialItem[] = []
  let line = Number(after?.order ?? 0)
  while (line < batch.lines && items.length < limit) {
    const count = Math.min(verdict ? READ_SIZE : limit - items.length, batch.lines - line)
    for (const item of await readItems(stores, batch, line, count)) {
      if (items.length === limit) break
      if (verdict === undefined || item.verdict === verdict) items.push(item)
      line++
    }
  }
  return { items, next: line < batch.lines ? { order: String(line) } : null }
}

/** These lines, or those of them that are in the block of the first one. */
async function readItems(
  { batches, executions }: Stores,
  batch: Batch,
  line: number,
  count: number,
): Promise<TrialItem[]> {
  const { organizationId } = batch
  const block = blockOf(batch, line)
  const first = batch.blocks[block]?.first ?? 0
  const lines = (await batches.readBlock({ batch, block })).slice(line - first, line - first + count)
  const ids = lines.map((_, index) => lineExecutionId(batch, line + index))
  const items: TrialItem[] = []
  for await (const execution of executions.readSummaries({ organizationId, ids })) {
    const originalExecutionId = lines[items.length]?.customId ?? ''
    const verdict = execution && isFinal(execution) ? judgementOf(execution).verdict : null
    const error = execution ? execution.error : withoutExecution(batch).error
    items.push({ originalExecutionId, execution, verdict, error })
  }
  return items
}
