import { textTable, toSingleLine } from '../format.ts'
import {
  type CaseReport,
  costOf,
  describeResult,
  describeScores,
  formatCost,
  formatFailures,
  formatScores,
  type Run,
} from './format-cases.ts'

/** The results of all cases with one model. `model`: null for the one of the agent. */
export type ModelReport = { model: string | null } & CaseReport

/** `problem`: why no case could run with the model. */
export type MatrixRow = ModelReport | { model: string; problem: string }

export const isReport = (row: MatrixRow): row is ModelReport => 'cases' in row

export const hasFailures = (rows: MatrixRow[]): boolean =>
  rows.some((row) => !isReport(row) || row.failed > 0)

/** A table of the models, one of the cases with each model, then what failed. */
export function formatMatrix(rows: MatrixRow[]): string {
  const reports = rows.filter(isReport)
  const cases = (reports[0]?.cases ?? []).map(({ name }, index) => [
    name,
    ...reports.map(({ cases }) => describeCell(cases[index]?.runs ?? [])),
  ])
  const problems = rows.flatMap((row) =>
    isReport(row) ? [] : [`${row.model}: ${toSingleLine(row.problem)}`],
  )
  const failures = reports.flatMap(({ model, cases }) => {
    const lines = cases.flatMap(formatFailures)
    return lines.length > 0 ? [`${model}`, ...lines] : []
  })
  return [
    textTable(['MODEL', 'PASSED', 'SCORES', 'TIME PER RUN', 'COST'], rows.map(summaryOf)),
    '',
    textTable(['CASE', ...reports.map(({ model }) => String(model))], cases),
    '',
    ...problems,
    ...failures,
  ]
    .join('\n')
    .trimEnd()
}

/** The model, how many cases passed, scores, time and cost. */
export function summaryOf(row: MatrixRow): string[] {
  if (!isReport(row)) return [row.model, 'cannot be used', '-', '-', '-']
  const { model, passed, failed, scores, costUsd, cases } = row
  const time = describeTime(cases.flatMap(({ runs }) => runs))
  const figures = [formatScores(scores) || '-', time, formatCost(costUsd)]
  return [model ?? 'of the agent', `${passed} of ${passed + failed}`, ...figures]
}

/** The average time of a run. */
export function describeTime(runs: Run[]): string {
  const sum = runs.reduce((total, { durationMs }) => total + durationMs, 0)
  return `${Math.round(sum / Math.max(runs.length, 1))} ms`
}

const describeCell = (runs: Run[]): string =>
  [describeResult(runs), describeScores(runs), formatCost(costOf(runs)), describeTime(runs)]
    .filter((text) => text !== '' && text !== '-')
    .join(', ')
