import type { Spread } from './harness/rounds.ts'

type Goal = { name: string; atMost?: number; atLeast?: number }

/** What `npm run bench` checks. README.md explains each figure. */
export const GOALS = {
  syncLatency: { name: 'sync p50 / floor', atMost: 1.5 },
  syncThroughput: { name: 'sync runs per second at 16 in flight / floor', atLeast: 0.55 },
  processorTime: { name: 'processor time of a sync run at 16 in flight / floor', atMost: 2.2 },
  asyncThroughput: { name: 'async runs finished and readable per second / floor', atLeast: 0.5 },
  asyncLatency: { name: 'async readable / sync p50', atMost: 1.5 },
  cachedLatency: { name: 'cached / uncached p50', atMost: 0.9 },
  syncDelays: { name: 'sync: p50 added / delay of a request', atMost: 2.1 },
  acceptDelays: { name: 'async accept: p50 added / delay of a request', atMost: 2.1 },
  cachedDelays: { name: 'cache hit: p50 added / delay of a request', atMost: 2.1 },
  readDelays: { name: 'read: p50 added / delay of a request', atMost: 1.1 },
  stepLatency: { name: 'step in a run of 500 / of 100', atMost: 1.2 },
  promptCost: { name: 'input of 20 steps with prompt caching / without', atMost: 0.21 },
  adaptationTime: { name: 'adaptation of 1 MB, ms', atMost: 100 },
  readFunctionLoad: { name: 'load of the slowest read function / client alone', atMost: 1.25 },
  runFunctionLoad: { name: 'load of the run function / client alone', atMost: 1.5 },
  listUnits: { name: 'read units of a filtered page / at 1,000 executions', atMost: 1.5 },
  listLatency: { name: 'p50 of a filtered page / at 1,000 executions', atMost: 1.5 },
  startSeconds: { name: '`npm start` until ready in an empty folder, s', atMost: 1.5 },
  restartSeconds: { name: '`npm start` until ready again, s', atMost: 1.5 },
  idleMemory: { name: 'idle process tree, MiB (RSS)', atMost: 240 },
  diskBytes: { name: 'bytes on disk a run / floor', atMost: 4 },
  parallelLatency: { name: 'sync p99 at 64 in flight / floor', atMost: 2 },
  timerLateness: { name: 'p99 of the lateness of 2,000 runs that wake, s', atMost: 2 },
  besideBatch: { name: 'p95 of runs of another organization, beside a batch / without', atMost: 1.5 },
  lineTime: { name: 'time of a batch / the same runs by a client', atMost: 1.15 },
  firingLateness: {
    name: 'lateness of the last of 10,000 firings that are due in the same minute, s',
    atMost: 60,
  },
  parallelMemory: { name: 'gateway and runner at 64 in flight, MiB (RSS)', atMost: 550 },
} satisfies Record<string, Goal>

/** Measured values by goal. */
export type Figures = Partial<Record<keyof typeof GOALS, Spread>>

export type Verdict = Spread & { name: string; goal: string; passed: boolean }

/** Compares the median of each figure with its goal, in the order of `GOALS`. */
export function evaluate(figures: Figures): Verdict[] {
  return Object.entries(GOALS).flatMap(([key, goal]) => {
    const { name, atMost, atLeast }: Goal = goal
    const spread = figures[key as keyof typeof GOALS]
    if (!spread) return []
    const { median } = spread
    return {
      name,
      ...spread,
      goal: atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`,
      passed: median <= (atMost ?? Number.POSITIVE_INFINITY) && median >= (atLeast ?? 0),
    }
  })
}
