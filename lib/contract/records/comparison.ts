import * as z from 'zod'
import { type Comparison, type ExecutionComparison, MAX_VALUE_CHARACTERS } from '../../core/compare.ts'
import { executionSummaryRecord, toExecutionSummary } from './execution.ts'
import { nullableInt, optionalText, schema } from './fields.ts'

const differenceRecord = /* @__PURE__ */ schema(() =>
  z.object({
    path: z
      .string()
      .describe(
        'JSON Pointer into the record of the execution (`/output`, `/error`), or into that of the step.',
      ),
    left: z
      .unknown()
      .optional()
      .describe('Absent if there is no such value. More than 200 characters are cut.'),
    right: z.unknown().optional(),
  }),
)

const comparedFields = /* @__PURE__ */ schema(() => ({
  differences: z.array(differenceRecord).describe('The first ones.'),
  isCut: z.literal(true).optional().describe('There are more differences. Absent otherwise.'),
}))

export const comparisonRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      left: executionSummaryRecord,
      right: executionSummaryRecord,
      request: z
        .object(comparedFields)
        .describe(
          'What differs in the inputs as they were sent (`/input`), and in the options (`/options`).',
        ),
      ...comparedFields,
      steps: z
        .array(
          z.object({
            number: nullableInt.describe('Null if only the other execution has the step.'),
            otherNumber: nullableInt.describe(
              'In the other execution; null if it has no such step. Steps of code agents are compared by name.',
            ),
            name: optionalText.describe('The name of a code agent step: the first 200 characters.'),
            isSame: z.boolean(),
            ...comparedFields,
          }),
        )
        .describe(
          'In the order of the left execution, then those that only the other one has. Texts, stop reasons, tool calls and results are compared.',
        ),
      hasMoreSteps: z.boolean().describe('Whether there are more steps than these, which were not compared.'),
    })
    .meta({ id: 'ExecutionComparison' }),
)

export type ComparisonRecord = z.infer<typeof comparisonRecord>

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
