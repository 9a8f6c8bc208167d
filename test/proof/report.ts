import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from '../../bench/report.ts'
import { html, htmlPage, htmlTable } from '../../cli/cases/html.ts'
import type { ProofReport } from './run-proof.ts'

/** What a report is about, by name. */
export type Subject = Record<string, string>

/** The report as Markdown. */
export function formatProof({ passed, startedAt, steps }: ProofReport, subject: Subject): string {
  const facts = Object.entries({ ...subject, started: startedAt }).map(
    ([name, value]) => `- ${name}: ${value}`,
  )
  const rows = steps.map(({ step, seconds, problems }) => ({
    step,
    result: problems.length === 0 ? 'passed' : 'FAILED',
    seconds: seconds.toFixed(0),
    problems: problems.length,
  }))
  const details = steps.flatMap(({ step, problems, figures }) => {
    const found = problems.map((problem) => `- ${problem}`).join('\n')
    const measured = Object.entries(figures).map(([figure, value]) => ({ figure, value }))
    if (!found && measured.length === 0) return []
    return [`## ${step}`, found, measured.length > 0 ? markdownTable(measured) : ''].filter(Boolean)
  })
  return [`# Proof: ${passed ? 'PASSED' : 'FAILED'}`, facts.join('\n'), markdownTable(rows), ...details].join(
    '\n\n',
  )
}

/**
 * By the beginning of a figure: what we have measured or expect. Latencies on AWS are usual ones of docs/operations.md,
 * units those of docs/costs.md.
 */
const OURS: Record<string, string> = {
  'slowest minute, overhead of runs p99': '10 to 50; a cold start about 1,000',
  'slowest minute, start of asynchronous runs p99': '1,000 to 2,000; more while runners are throttled',
  'slowest minute, reads p99': '10 to 50',
  'server errors': 'only while the table or functions are throttled',
  'write units of the table': '4 to 8 per run with 0.1 kB, without indexes',
  'US$ of the runs': '17 per million asynchronous, 10 per million synchronous runs of 0.1 kB',
  'backup and restore (s)': 'unknown',
  'throttled calls': 'some, if 200 arrive in the same moment',
  checks: 'all',
}

const oursOf = (figure: string) => Object.entries(OURS).find(([name]) => figure.startsWith(name))?.[1] ?? ''

/** The report as a page of its own, with what was measured beside what we expect. */
export function formatHtml({ passed, startedAt, steps }: ProofReport, subject: Subject): string {
  const sections = steps.map(({ step, seconds, problems, figures }) => {
    const held = problems.length === 0 ? 'held' : 'FAILED'
    const rows = Object.entries(figures).map(([figure, value]) => [figure, value, oursOf(figure)])
    return html`<h2 class="${held.toLowerCase()}">${step}: ${held} (${seconds.toFixed(0)} s)</h2>
<ul>${problems.map((problem) => html`<li class="failed">${problem}</li>`)}</ul>
${rows.length > 0 ? htmlTable(['figure', 'measured', 'expected'], rows) : ''}`
  })
  const facts = htmlTable(['', ''], Object.entries({ ...subject, started: startedAt }))
  return htmlPage(`Proof: ${passed ? 'PASSED' : 'FAILED'}`, [facts, ...sections])
}

/** Writes the report into the folder, as a page, as Markdown and as JSON, and returns the paths. */
export function writeReport(folder: string, report: ProofReport, subject: Subject): string[] {
  mkdirSync(folder, { recursive: true })
  const files = {
    'report.html': formatHtml(report, subject),
    'report.md': `${formatProof(report, subject)}\n`,
    'report.json': `${JSON.stringify({ subject, ...report }, null, 2)}\n`,
  }
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  })
}
