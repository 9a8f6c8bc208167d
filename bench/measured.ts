import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatNumber, machineOf, markdownTable, type Report } from './report.ts'

const FILE = fileURLToPath(new URL('./measured.md', import.meta.url))

/** Of the code that was measured; `+` if files differ from it. */
export function measuredCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!bench/measured.md')
  return git('rev-parse', '--short=10', 'HEAD') + (changed ? '+' : '')
}

/** Replaces the rows of the figures that were measured, and the machine. Other rows keep their commits. */
export function writeMeasured(report: Report, commit: string): void {
  const rows = report.figures.map(({ name, goal, passed, median, min, max }) => ({
    figure: name,
    median: formatNumber(median),
    range: `${formatNumber(min)}–${formatNumber(max)}`,
    goal,
    result: passed ? 'met' : 'missed',
    date: report.date,
    commit,
  }))
  const [header = '', rule = '', ...lines] = markdownTable(rows).split('\n')
  const measured = new Set(rows.map(({ figure }) => figure))
  const old = existsSync(FILE) ? readFileSync(FILE, 'utf8').split('\n') : []
  const kept = old.filter((line) => line.startsWith('| ') && isRowOf(line, (name) => !measured.has(name)))
  const text = ['# Measured', INTRODUCTION, [header, rule, ...lines, ...kept].join('\n')]
  const details = Object.values(report.details).map(({ title, rows }) => `${title}\n\n${markdownTable(rows)}`)
  writeFileSync(FILE, `${[...text, ...details, machineOf(report)].join('\n\n')}\n`)
}

const INTRODUCTION =
  'Written by `npm run bench`: the [figures](README.md#figures), each with the commit that was measured. Below the table is the last run.'

/** Rows of the first table have seven cells, and a commit in the last one. */
function isRowOf(line: string, isIncluded: (name: string) => boolean): boolean {
  const cells = line.split('|').map((cell) => cell.trim())
  return cells.length === 9 && /^[0-9a-f]{10}\+?$/.test(cells[7] ?? '') && isIncluded(cells[1] ?? '')
}
