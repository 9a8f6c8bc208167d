import type { Spread } from './statistics.ts'

/** What issue 7 demands of a figure. */
export type Goal = {
  part: string
  name: string
  figure: string
  atMost?: number
  atLeast?: number
  /** Its figure takes too long for a quick run. */
  notQuick?: true
}

export const GOALS: Goal[] = [
  { part: 'a', name: 'Sync run, p50 at 1 in flight / floor', figure: 'sync p50 / floor at 1', atMost: 1.2 },
  {
    part: 'a',
    name: 'Sync runs per second at 16 in flight / floor',
    figure: 'sync runs/s / floor at 16',
    atLeast: 0.85,
  },
  {
    part: 'a',
    name: 'Sync runs per second at 16 in flight / record floor',
    figure: 'sync runs/s / record floor at 16',
    atLeast: 0.08,
  },
  { part: 'a', name: 'Cached hit / uncached run, p50 at 1', figure: 'cached p50 / sync at 1', atMost: 0.9 },
  {
    part: 'b',
    name: 'Async, accepted to readable with `Prefer: wait` / sync run, p50',
    figure: 'readable by wait / sync',
    atMost: 1.5,
  },
  {
    part: 'c',
    name: 'A page at 100,000 stored / at 1,000',
    figure: 'page of the organization at 100,000 / 1,000',
    atMost: 1.2,
    notQuick: true,
  },
  { part: 'd', name: 'A step at 500 steps / at 100', figure: 'step at 500 / 100', atMost: 1.15 },
  {
    part: 'f',
    name: 'Loading the slowest read function / DynamoDBDocumentClient alone',
    figure: 'slowest read function',
    atMost: 1.25,
  },
  {
    part: 'f',
    name: 'Loading the run function / DynamoDBDocumentClient alone',
    figure: 'run function',
    atMost: 1.5,
  },
  { part: 'g', name: 'Ready after `npm start` on a used store, s', figure: 'ready s', atMost: 1.5 },
  { part: 'g', name: 'Idle process tree, MiB', figure: 'idle MiB', atMost: 200 },
]

/** Runs per second at 16 in flight, as parts of the record floor's. Measured elsewhere. */
export const PEERS = {
  source: 'November 2026, measured elsewhere',
  shares: {
    'DBOS on Postgres': 0.073,
    Restate: 0.059,
    Mastra: 0.059,
    'Bare SDK floor': 0.04,
    'LangGraph.js dev server': 0.002,
  },
}

/** `met` is null for what was not measured. */
export type Verdict = { name: string; measured: Spread | null; limit: string; met: boolean | null }

type Figures = Record<string, Record<string, Spread>>

/** How the goals of these parts were met. @throws an Error when a part has not measured what its goal needs */
export function judge(figures: Figures, quick: boolean): Verdict[] {
  return GOALS.filter(({ part }) => part in figures).map((goal) => {
    const { part, name, figure, atMost, atLeast, notQuick } = goal
    const limit = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`
    const measured = figures[part]?.[figure]
    if (!measured && quick && notQuick) return { name, measured: null, limit, met: null }
    if (!measured) throw new Error(`Part ${part} has not measured "${figure}".`)
    return { name, measured, limit, met: isMet(goal, measured.median) }
  })
}

const isMet = ({ atMost = Number.POSITIVE_INFINITY, atLeast = 0 }: Goal, value: number) =>
  value >= atLeast && value <= atMost
