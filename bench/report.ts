import { availableParallelism, totalmem } from 'node:os'
import { evaluate, type Figures, type Verdict } from './goals.ts'
import { type Spread, toSpread } from './harness/rounds.ts'
import type { Workspace } from './harness/workspace.ts'

export type Row = Record<string, string | number>

export type SuiteResult = { figures: Figures; details: { title: string; rows: Row[] } }

export type SuiteContext = {
  workspace: Workspace
  /** Fewer and shorter rounds. */
  quick: boolean
  /** Of a round of runs. */
  seconds: number
  log: (line: string) => void
}

/** Measures one aspect of the service; starts what it needs. */
export type Suite = (context: SuiteContext) => Promise<SuiteResult>

export type Report = {
  date: string
  seconds: number
  quick: boolean
  machine: { cpus: number; memoryGiB: number; platform: string; node: string }
  figures: Verdict[]
  details: Record<string, SuiteResult['details']>
}

export function createReport(
  results: Map<string, SuiteResult>,
  { quick, startedAt }: { quick: boolean; startedAt: Date },
): Report {
  const figures: Figures = Object.assign({}, ...[...results.values()].map((result) => result.figures))
  return {
    date: startedAt.toISOString().slice(0, 10),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    quick,
    machine: {
      cpus: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
    },
    figures: evaluate(figures),
    details: Object.fromEntries([...results].map(([name, { details }]) => [name, details])),
  }
}

/** Date and machine, as a line of text. */
export function machineOf({ date, seconds, quick, machine }: Omit<Report, 'figures' | 'details'>): string {
  const { cpus, memoryGiB, platform, node } = machine
  return `${date}, ${cpus} CPUs, ${memoryGiB} GiB, ${platform}, Node ${node}, ${seconds} s${quick ? ', quick' : ''}`
}

/** Markdown, so that it can be pasted into a document. */
export function toText({ figures, details, ...report }: Report): string {
  const rows = figures.map(({ name, goal, passed, ...spread }) => ({
    figure: name,
    median: formatNumber(spread.median),
    'min–max': `${formatNumber(spread.min)}–${formatNumber(spread.max)}`,
    goal,
    result: passed ? 'pass' : 'FAIL',
  }))
  return [
    ...(rows.length > 0 ? [markdownTable(rows)] : []),
    ...Object.values(details).map(({ title, rows }) => `${title}\n\n${markdownTable(rows)}`),
    machineOf(report),
  ].join('\n\n')
}

/** Three significant digits, no exponent. */
export function formatNumber(value: number): string {
  if (value === 0) return '0'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(digits, 6))
}

/** `1.20 (1.10–1.45)`: the median with the smallest and the largest value. */
export const formatSpread = ({ median, min, max }: Spread): string =>
  `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`

/** One row with the spread of each measure. */
export const spreadRows = (measures: Record<string, number[]>): Row[] =>
  Object.entries(measures).map(([measured, values]) => ({ measured, spread: formatSpread(toSpread(values)) }))

/** The keys of the first row are the header. All columns but the first are right-aligned. */
export function markdownTable(rows: Row[]): string {
  const header = Object.keys(rows[0] ?? {})
  const cells = [header, ...rows.map((row) => header.map((name) => String(row[name] ?? '')))]
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)))
  const toLine = (row: string[]) => {
    const padded = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    return `| ${padded.join(' | ')} |`
  }
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [header, rule, ...cells.slice(1)].map(toLine).join('\n')
}
