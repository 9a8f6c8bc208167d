import type { TestCase } from '../../authoring/cases/case-file.ts'
import type { Difference } from '../../authoring/cases/differences.ts'
import type { CaseScore } from '../../authoring/cases/find-failures.ts'
import type { Json } from '../../lib/core/json/json.ts'
import { describeResult, describeScores, formatCost, formatScore, type Run } from './format-cases.ts'
import { type Html, html, htmlPage, htmlTable } from './html.ts'
import { describeTime, isReport, type MatrixRow, summaryOf } from './model-matrix.ts'

type Tested = { title: string; slug: string; description: string | null; finishedAt: Date; cases: TestCase[] }

/** A page for people who did not write the agent: what passed, then each case with what the agent did. */
export function formatHtmlReport(tested: Tested, rows: MatrixRow[]): string {
  const { title, slug, description, finishedAt, cases } = tested
  const reports = rows.filter(isReport)
  const passed = reports.reduce((sum, report) => sum + report.passed, 0)
  const all = reports.reduce((sum, report) => sum + report.cases.length, 0)
  const models = rows.length === 1 ? '' : ` with ${rows.length} models`
  const isGood = passed === all && reports.length === rows.length
  return htmlPage(`${title}: test report`, [
    html`<p dir="auto">${description ?? ''}</p>`,
    html`<p class="${isGood ? 'passed' : 'failed'}"><strong>${passed} of ${all} cases passed${models}.</strong></p>`,
    html`<p>Agent ${slug}, ${finishedAt.toUTCString()}.</p>`,
    html`<h2>Summary</h2>`,
    htmlTable(
      ['Model', 'Cases passed', 'Average scores', 'Time per run', 'Cost'],
      rows.map((row) => {
        const [model, passed, ...others] = summaryOf(row)
        return [
          model ?? '',
          isReport(row) ? verdictOf(row.failed === 0, passed ?? '') : verdictOf(false, row.problem),
          ...others,
        ]
      }),
    ),
    htmlTable(
      ['Case', ...reports.map(({ model }) => model ?? 'Result')],
      (reports[0]?.cases ?? []).map(({ name }, index) => [
        html`<a href="#case-${index + 1}">${name}</a>`,
        ...reports.map(({ cases }) => {
          const { passed = false, runs = [] } = cases[index] ?? {}
          return html`${verdictOf(passed, describeResult(runs))} ${describeScores(runs)}`
        }),
      ]),
    ),
    ...(reports[0]?.cases ?? []).map(({ name }, index) => {
      const testCase = cases.find((each) => each.name === name)
      return html`<section id="case-${index + 1}"><h2 dir="auto">${name}</h2>
<h3>Input</h3>${showValue(testCase?.input)}
<details><summary>What is expected</summary>${showValue(testCase?.expect as Json)}</details>
${reports.map(({ model, cases }) => (cases[index]?.runs ?? []).map((run) => formatRun(run, model)))}</section>`
    }),
  ])
}

const verdictOf = (passed: boolean, text: string): Html =>
  html`<span class="${passed ? 'passed' : 'failed'}">${text}</span>`

function formatRun(run: Run, model: string | null): Html {
  const { output, error, failures, scores = {} } = run
  const facts = `Steps: ${run.steps}. Time: ${describeTime([run])}. Cost: ${formatCost(run.costUsd)}.`
  return html`<h3>${verdictOf(failures.length === 0, describeResult([run]))}${model === null ? '' : ` with ${model}`}</h3>
<p>${facts}</p>
${failures.length > 0 ? html`<h4>What is different</h4>${htmlTable(['Where', 'Expected', 'Actual'], failures.map(rowOf))}` : ''}
${Object.keys(scores).length > 0 ? html`<h4>Scores</h4>${htmlTable(['Scorer', 'Score', 'Reason'], Object.entries(scores).map(scoreRow))}` : ''}
<h4>${error ? 'Error' : 'Output'}</h4>${error ? showValue(`${error.code}: ${error.message}`) : showValue(output)}`
}

const rowOf = ({ pointer, message, expected, actual }: Difference) => [
  message ?? (pointer || 'output'),
  message === undefined ? showValue(expected) : '',
  message === undefined || actual !== undefined ? showValue(actual) : '',
]

const scoreRow = ([scorer, result]: [string, CaseScore]) =>
  result.score === null
    ? [scorer, 'none', result.error ?? '']
    : [scorer, formatScore(result.score), result.reason ?? '']

function showValue(value: Json | undefined): Html {
  if (value === undefined) return html`<em>nothing</em>`
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return html`<pre dir="auto" tabindex="0">${text}</pre>`
}
