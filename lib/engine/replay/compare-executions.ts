import { type ExecutionReference, readNamed } from '../../access/executions.ts'
import { compareValues, type ExecutionComparison } from '../../core/compare.ts'
import type { Execution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { toPointerTree } from '../../core/json/pointer.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { StepStore } from '../../core/step.ts'
import { below, compareSteps } from './compare-steps.ts'

type Stores = {
  executions: Pick<ExecutionStore, 'get' | 'isVisible'>
  steps: Pick<StepStore, 'list'>
}

/**
 * What two executions were asked for, have returned and done. If one of them repeats the other, what it ignores is
 * left out.
 * @throws ExecutionNotFound
 */
export async function compareExecutions(
  stores: Stores,
  { otherId, ...reference }: ExecutionReference & { otherId: string },
): Promise<ExecutionComparison> {
  const left = await readNamed(stores.executions, reference)
  const right = await readNamed(stores.executions, { ...reference, executionId: otherId })
  const ignored = toPointerTree(ignoredBy(left, right) ?? ignoredBy(right, left) ?? [])
  const request = compareValues(requestOf(left), requestOf(right))
  const compared = compareValues(endOf(left), endOf(right), { ignored: below('output', ignored) })
  const steps = await compareSteps(stores.steps, { left: left.id, right: right.id, ignored })
  return { left, right, request, ...compared, ...steps }
}

const ignoredBy = ({ replay }: Execution, original: Execution): string[] | null =>
  replay?.executionId === original.id ? replay.ignore : null

const requestOf = ({ input, options }: Execution) => ({ input, options }) as JsonObject

const endOf = ({ output, error }: Execution) => ({ output, error }) as JsonObject
