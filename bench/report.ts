import { availableParallelism, totalmem } from 'node:os'
import { textTable } from '../cli/format.ts'
import { withSpread } from './format.ts'
import { judge, PEERS, type Verdict } from './goals.ts'
import type { Finding, Part } from './part.ts'
import type { Spread } from './statistics.ts'

/** What a run of the benchmark found, as its JSON file has it. */
export type Report = {
  measuredAt: string
  /** Seconds. */
  took: number
  quick: boolean
  machine: { cpus: number; memoryGiB: number; platform: string; node: string }
  goals: Verdict[]
  peers: typeof PEERS
  parts: Record<string, Finding & { title: string }>
}

export function reportOf(
  found: { part: Part; finding: Finding }[],
  { quick, startedAt }: { quick: boolean; startedAt: Date },
): Report {
  const figures = Object.fromEntries(
    found.map(({ part, finding }): [string, Record<string, Spread>] => [part.letter, finding.figures]),
  )
  return {
    measuredAt: startedAt.toISOString().slice(0, 10),
    took: Math.round((Date.now() - startedAt.getTime()) / 1000),
    quick,
    machine: {
      cpus: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
    },
    goals: judge(figures, quick),
    peers: PEERS,
    parts: Object.fromEntries(
      found.map(({ part, finding }) => [part.letter, { title: part.title, ...finding }]),
    ),
  }
}

/** What is shown on a terminal. */
export function toText({ parts, goals, machine, measuredAt, took, quick }: Report): string {
  const tables = Object.entries(parts).flatMap(([letter, { tables }]) =>
    tables.map(({ title, rows }) => `${letter}. ${title}\n${tableOf(rows)}`),
  )
  const verdicts = goals.map(({ name, measured, limit, met }) => ({
    goal: name,
    measured: measured ? withSpread(measured) : 'not in a quick run',
    limit,
    '': met === null ? '' : met ? 'met' : 'missed',
  }))
  const { cpus, memoryGiB, platform, node } = machine
  const on = `${measuredAt}, ${cpus} CPUs, ${memoryGiB} GiB, ${platform}, Node ${node}, ${took} s${quick ? ', quick' : ''}`
  return [...tables, ...(goals.length > 0 ? [`Goals\n${tableOf(verdicts)}`] : []), on].join('\n\n')
}

function tableOf(rows: Record<string, string | number>[]): string {
  const header = Object.keys(rows[0] ?? {})
  return textTable(
    header,
    rows.map((row) => header.map((name) => String(row[name] ?? ''))),
  )
}
