import type { CaseResult } from '../../authoring/cases/run-case.ts'
import type { Execution } from '../../lib/core/execution.ts'
import type { Json } from '../../lib/core/json.ts'
import type { ToolCall, ToolResult } from '../../lib/core/model.ts'
import type { Step } from '../../lib/core/step.ts'
import { toSingleLine } from '../format.ts'
import { formatDifference } from './case-report.ts'

const MAX_CHARACTERS = 200

/** A step of the run, indented if it belongs to an agent that the run calls. */
export function formatStep({ callers }: Execution, step: Step): string {
  const indent = '  '.repeat(callers.length + 1)
  if (step.kind === 'CODE')
    return `${indent}step ${step.number}  ${toSingleLine(step.name)} → ${format(step.value)}`
  const { inputTokens, outputTokens, costUsd } = step.usage
  const cost = costUsd === undefined ? '' : `, $${costUsd}`
  return [
    `${indent}step ${step.number}  ${inputTokens} tokens in, ${outputTokens} out${cost}`,
    ...(step.text.trim() === '' ? [] : [`${indent}  ${shorten(toSingleLine(step.text))}`]),
    ...step.calls.map(({ name, input }) => `${indent}  ${name}(${format(input)})`),
  ].join('\n')
}

export const formatToolResult = ({ name }: ToolCall, result: ToolResult): string =>
  `    ${name} → ${result.ok ? format(result.value) : `failed: ${shorten(toSingleLine(result.error))}`}`

/** The output or the error, and whether the case passed. */
export function formatResult({ output, error, failures, durationMs }: CaseResult): string {
  const outcome = error
    ? `  error  ${error.code}: ${toSingleLine(error.message)}`
    : `  output ${JSON.stringify(output, null, 2)}`
  const verdict = failures.length === 0 ? `passed in ${durationMs} ms` : `FAILED in ${durationMs} ms`
  return [outcome.replaceAll('\n', '\n  '), verdict, ...failures.flatMap(formatDifference)].join('\n')
}

const format = (value: Json): string => shorten(JSON.stringify(value))

const shorten = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text
