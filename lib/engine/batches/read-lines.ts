import { type Batch, blockOf, type LineInput, lineExecutionId } from '../../core/batch.ts'
import type { BatchStore } from '../../core/ports/batches.ts'

/** A line, and the id that its execution has or would have. */
export type ReadLine = LineInput & { executionId: string }

/** The lines of a batch from this one on and before another, a block at a time. */
export async function* readLines(
  { batches }: { batches: Pick<BatchStore, 'readBlock'> },
  batch: Batch,
  from = 0,
  to = batch.lines,
): AsyncGenerator<ReadLine[]> {
  for (let block = blockOf(batch, from), line = from; line < to; block++) {
    const first = batch.blocks[block]?.first ?? 0
    const lines = (await batches.readBlock({ batch, block })).slice(line - first, to - first)
    yield lines.map((each, index) => ({ ...each, executionId: lineExecutionId(batch, line + index) }))
    line += lines.length
  }
}
