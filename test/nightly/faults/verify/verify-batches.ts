import { isDeepStrictEqual } from 'node:util'
import type { ExecutionRecord } from '../../../../lib/contract/records/execution.ts'
import type { BatchObservation } from '../load/batch-load.ts'
import { EXHAUSTED } from '../load/planned-run.ts'

/**
 * Every problem found with batches: lines that were lost, executed twice, in another order or with another result.
 * @param records all executions of the organization
 */
export function verifyBatches(observations: BatchObservation[], records: ExecutionRecord[]): string[] {
  return observations.flatMap((observed) => {
    const { batch, id, final, results, isDeleted } = observed
    const { marker, lines } = batch
    if (!final) return [`The batch ${marker} (${id}) has not ended.`]
    const failed = results.filter(({ status }) => status === 'ERROR').length
    const counts = { IN_PROGRESS: 0, SUCCESS: lines.length - failed, ERROR: failed }
    const executions = Map.groupBy(
      records.filter(({ batchId }) => batchId === id),
      ({ customId = '' }) => customId,
    )
    return [
      ...(isDeepStrictEqual(final.counts, counts)
        ? []
        : [`${marker} counts ${JSON.stringify(final.counts)} instead of ${JSON.stringify(counts)}.`]),
      ...(results.length === lines.length ? [] : [`${marker} has ${results.length} results.`]),
      ...lines.flatMap(({ customId, output }, index) => {
        const result = results[index]
        const isRight =
          result?.customId === customId &&
          (isDeepStrictEqual(result.output, output) || EXHAUSTED.includes(result.error?.code ?? ''))
        const expected = isDeleted ? 0 : 1
        const { length } = executions.get(customId) ?? []
        return [
          ...(isRight ? [] : [`${customId} has the result ${JSON.stringify(result)}.`]),
          ...(length === expected ? [] : [`${customId} has ${length} executions instead of ${expected}.`]),
        ]
      }),
    ]
  })
}
