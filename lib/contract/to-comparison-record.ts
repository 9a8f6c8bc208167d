import { type Comparison, type ExecutionComparison, MAX_VALUE_CHARACTERS } from '../core/compare.ts'
import type { ComparisonRecord } from './records/execution-record.ts'
import { toExecutionSummary } from './to-execution-record.ts'

export function toComparisonRecord({
  left,
  right,
  request,
  steps,
  hasMoreSteps,
  ...compared
}: ExecutionComparison): ComparisonRecord {
  return {
    left: toExecutionSummary(left),
    right: toExecutionSummary(right),
    request: toDifferences(request),
    ...toDifferences(compared),
    steps: steps.map(({ left: number, right: otherNumber, name, isSame, ...compared }) => ({
      number,
      otherNumber,
      ...(name !== null && { name: name.slice(0, MAX_VALUE_CHARACTERS).toWellFormed() }),
      isSame,
      ...toDifferences(compared),
    })),
    hasMoreSteps,
  }
}

const toDifferences = ({ differences, isCut }: Comparison) => ({
  differences: differences.map(({ path, original, trial }) => ({
    path,
    ...(original !== undefined && { left: original }),
    ...(trial !== undefined && { right: trial }),
  })),
  ...(isCut && { isCut }),
})
