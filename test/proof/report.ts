import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from '../../bench/report.ts'
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

/** Writes the report into the folder, as Markdown and as JSON, and returns the paths. */
export function writeReport(folder: string, report: ProofReport, subject: Subject): string[] {
  mkdirSync(folder, { recursive: true })
  const files = {
    'report.md': `${formatProof(report, subject)}\n`,
    'report.json': `${JSON.stringify({ subject, ...report }, null, 2)}\n`,
  }
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  })
}
