import { type Batch, blockOf, type LineInput, lineExecutionId } from '../../core/batch.ts'
import type { ExecutionError, ExecutionResult, ExecutionStatus } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { BatchStore, ExecutionStore } from '../../core/ports.ts'

/** What became of a line. `executionId` is null without an execution. */
export type LineResult = {
  customId: string
  executionId: string | null
  status: ExecutionStatus
  output: JsonObject | null
  error: ExecutionError | null
}

type Stores = {
  batches: Pick<BatchStore, 'readBlock'>
  executions: Pick<ExecutionStore, 'readResults'>
}

/**
 * The results of a batch in the order of its lines, from this line on, open ones included. It reads what it is asked
 * for: at most one block of lines, a hundred executions and one large output are in memory.
 */
export async function* readResults(
  { batches, executions }: Stores,
  batch: Batch,
  from = 0,
): AsyncGenerator<LineResult> {
  const { organizationId } = batch
  for (let block = blockOf(batch, from), line = from; line < batch.lines; block++) {
    const first = batch.blocks[block]?.first ?? 0
    const lines = (await batches.readBlock({ batch, block })).slice(line - first)
    const ids = lines.map((_, index) => lineExecutionId(batch, line + index))
    let index = 0
    for await (const result of executions.readResults({ organizationId, ids })) {
      const { customId } = lines[index] as LineInput
      yield { customId, ...(result ? ofExecution(result) : withoutExecution(batch)) }
      index++
    }
    line += lines.length
  }
}

const ofExecution = ({ id, status, output, error }: ExecutionResult) => ({
  executionId: id,
  status,
  output,
  error,
})

/** A line that has no execution has not started, was not started any more, or its execution was deleted. */
function withoutExecution({ status, stopped }: Batch) {
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
