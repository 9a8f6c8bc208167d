import type { Spread } from './statistics.ts'
import type { Workplace } from './workplace.ts'

export type Row = Record<string, string | number>

export type Finding = {
  tables: { title: string; rows: Row[] }[]
  /** What goals and the plot look at, by name. */
  figures: Record<string, Spread>
}

export type Context = {
  workplace: Workplace
  /** Fewer and shorter rounds: to see that all works, and whether something is far off. */
  quick: boolean
  say: (line: string) => void
}

/** One part of the benchmark; it starts what it needs. */
export type Part = {
  letter: string
  title: string
  run: (context: Context) => Promise<Finding>
}
