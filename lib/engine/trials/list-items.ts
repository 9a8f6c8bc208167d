import type { Batch, TrialItem } from '../../core/batch.ts'
import { BY_LINE, type PageQuery, parsePage } from '../../core/cursor.ts'
import { type ExecutionSummary, isFinal } from '../../core/execution.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page } from '../../core/ports/system.ts'
import { zip } from '../../core/read-pages.ts'
import { judgementOf, type Verdict } from '../../core/trial.ts'
import { type BatchReference, findBatch } from '../batches/read.ts'
import { readLines } from '../batches/read-lines.ts'
import { withoutExecution } from '../batches/results.ts'

type Stores = {
  batches: Pick<BatchStore, 'get' | 'readBlock'>
  executions: Pick<ExecutionStore, 'readSummaries'>
}

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
  const { organizationId } = batch
  const items: TrialItem[] = []
  let line = Number(after?.order ?? 0)
  const to = verdict ? batch.lines : Math.min(line + limit, batch.lines)
  for await (const lines of readLines(stores, batch, line, to)) {
    const ids = lines.map(({ executionId }) => executionId)
    const read = stores.executions.readSummaries({ organizationId, ids })
    for await (const [{ customId }, execution] of zip(lines, read)) {
      const item = toItem(batch, customId, execution)
      if (verdict === undefined || item.verdict === verdict) items.push(item)
      line++
      if (items.length === limit) break
    }
    if (items.length === limit) break
  }
  return { items, next: line < batch.lines ? { order: String(line) } : null }
}

function toItem(batch: Batch, originalExecutionId: string, execution: ExecutionSummary | null): TrialItem {
  const verdict = execution && isFinal(execution) ? judgementOf(execution).verdict : null
  const error = execution ? execution.error : withoutExecution(batch).error
  return { originalExecutionId, execution, verdict, error }
}
