import type { Difference } from '../../authoring/cases/differences.ts'
import type { CaseResult } from '../../authoring/cases/run-case.ts'
import type { Execution } from '../../lib/core/execution.ts'
import type { Json } from '../../lib/core/json/json.ts'
import type { ToolCall, ToolResult } from '../../lib/core/model.ts'
import { roundDollars } from '../../lib/core/model-usage.ts'
import type { Step } from '../../lib/core/step.ts'
import { textTable, toSingleLine } from '../format.ts'

const MAX_VALUE_CHARACTERS = 300
const MAX_STEP_CHARACTERS = 200
const NO_VALUE = '(nothing)'

/** `scores`: means, by the slug of the scorer. `costUsd`: of all runs without their scorers; null if unknown. */
export type CaseReport = {
  passed: number
  failed: number
  scores: Record<string, number>
  costUsd: number | null
  cases: { name: string; passed: boolean; runs: Omit<CaseResult, 'name'>[] }[]
}

/** A case passes if all its runs pass. */
export function toReport(results: CaseResult[]): CaseReport {
  const cases = [...Map.groupBy(results, ({ name }) => name)].map(([name, runs]) => ({
    name,
    passed: runs.every(({ failures }) => failures.length === 0),
    runs: runs.map(({ name: _, ...run }) => run),
  }))
  const passed = cases.filter((testCase) => testCase.passed).length
  const totals = { scores: meanScores(results), costUsd: costOf(results) }
  return { passed, failed: cases.length - passed, ...totals, cases }
}

export type Run = CaseReport['cases'][number]['runs'][number]

export function costOf(runs: Pick<Run, 'costUsd'>[]): number | null {
  const costs = runs.flatMap(({ costUsd }) => costUsd ?? [])
  return costs.length < runs.length ? null : roundDollars(costs.reduce((sum, cost) => sum + cost, 0))
}

/** Without runs that have no score. */
function meanScores(runs: Pick<Run, 'scores'>[]): Record<string, number> {
  const means: Record<string, number> = {}
  const all = runs.flatMap(({ scores = {} }) => Object.entries(scores))
  for (const [scorer, each] of Map.groupBy(all, ([scorer]) => scorer)) {
    const given = each.flatMap(([, { score }]) => score ?? [])
    if (given.length > 0) means[scorer] = given.reduce((sum, score) => sum + score, 0) / given.length
  }
  return means
}

/** A table of the cases, then what failed, then a summary. */
export function formatReport({ passed, failed, cases }: CaseReport): string {
  const hasScores = cases.some(({ runs }) => runs.some(({ scores }) => scores))
  const rows = cases.map(({ name, runs }) => [
    name,
    describeResult(runs),
    ...(hasScores ? [describeScores(runs)] : []),
    rangeOf(runs, ({ steps }) => steps),
    `${rangeOf(runs, ({ durationMs }) => durationMs)} ms`,
    formatCost(costOf(runs)),
  ])
  const open = cases.filter(({ runs }) => runs.some(isNotYetCorrected)).length
  const summary = [
    failed === 0 ? `${passed} passed.` : `${failed} failed, ${passed} passed.`,
    ...(open > 0 ? [`${open} still ${open === 1 ? 'gives' : 'give'} what was corrected.`] : []),
  ].join(' ')
  return [
    textTable(['CASE', 'RESULT', ...(hasScores ? ['SCORES'] : []), 'STEPS', 'TIME', 'COST'], rows),
    '',
    ...cases.flatMap(formatFailures),
    summary,
  ].join('\n')
}

export function describeResult(runs: Run[]): string {
  const passed = runs.filter(({ failures }) => failures.length === 0).length
  if (runs.length > 1) return `${passed}/${runs.length} passed`
  if (runs.some(isNotYetCorrected)) return 'not yet corrected'
  return passed === 1 ? 'passed' : 'FAILED'
}

const isNotYetCorrected = ({ notYetCorrected }: Run): boolean => notYetCorrected !== undefined

/** One number, or the range of several. */
export function rangeOf(runs: Run[], read: (run: Run) => number): string {
  const [min, max] = [Math.min(...runs.map(read)), Math.max(...runs.map(read))]
  return min === max ? String(min) : `${min}–${max}`
}

/** Means, such as `faithful 0.93`. */
export const describeScores = (runs: Run[]): string => formatScores(meanScores(runs))

export const formatScores = (scores: Record<string, number>): string =>
  Object.entries(scores)
    .map(([scorer, score]) => `${scorer} ${formatScore(score)}`)
    .join(', ')

export const formatScore = (score: number): string => String(Number(score.toFixed(2)))

export function formatCost(costUsd: number | null): string {
  if (costUsd === null) return 'unknown'
  return costUsd === 0 ? '-' : `$${Number(costUsd.toPrecision(3))}`
}

export function formatFailures({ name, runs }: CaseReport['cases'][number]): string[] {
  return runs.flatMap(({ failures }, index) => {
    if (failures.length === 0) return []
    const run = runs.length > 1 ? ` (run ${index + 1})` : ''
    return [`✗ ${toSingleLine(name)}${run}`, ...failures.flatMap(formatDifference), '']
  })
}

/** One difference, as indented lines. */
function formatDifference({ pointer, message, expected, actual }: Difference): string[] {
  const [title, details] =
    message === undefined
      ? [pointer || 'output', [`expected  ${formatValue(expected)}`, `actual    ${formatValue(actual)}`]]
      : [message, actual === undefined ? [] : [`actual    ${formatValue(actual)}`]]
  return [`    ${title}`, ...details.map((line) => `      ${line}`)]
}

function formatValue(value: Json | undefined): string {
  if (value === undefined) return NO_VALUE
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
}

/** A step of the run, indented if it belongs to an agent that the run calls. */
export function formatStep({ callers }: Execution, step: Step): string {
  const indent = '  '.repeat(callers.length + 1)
  if (step.kind === 'CODE')
    return `${indent}step ${step.number}  ${toSingleLine(step.name)} ${step.value === undefined ? 'failed' : `→ ${format(step.value)}`}`
  if (step.kind === 'WAIT')
    return `${indent}step ${step.number}  ${toSingleLine(step.name)} waits (${step.wait.kind})`
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
  text.length > MAX_STEP_CHARACTERS ? `${text.slice(0, MAX_STEP_CHARACTERS - 1)}…` : text
