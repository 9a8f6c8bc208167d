import type { Spread } from './harness/rounds.ts'

export type SuiteName =
  | 'overhead'
  | 'latency'
  | 'async'
  | 'steps'
  | 'caching'
  | 'adaptation'
  | 'bundles'
  | 'listing'
  | 'footprint'
  | 'parallel'
  | 'batches'
  | 'timers'
  | 'lines'
  | 'schedules'

type Goal = { suite: SuiteName; name: string; atMost?: number; atLeast?: number }

/** What `npm run bench` checks. README.md explains each figure. */
export const GOALS = {
  syncLatency: { suite: 'overhead', name: 'sync p50 / floor', atMost: 1.1 },
  syncThroughput: {
    suite: 'overhead',
    name: 'sync runs per second at 16 in flight / floor',
    atLeast: 0.9,
  },
  asyncLatency: { suite: 'overhead', name: 'async readable / sync p50', atMost: 1.5 },
  cachedLatency: { suite: 'overhead', name: 'cached / uncached p50', atMost: 0.9 },
  isolationLatency: { suite: 'overhead', name: 'sync p50 / without its thread', atMost: 1.15 },
  syncDelays: { suite: 'latency', name: 'sync: p50 added / delay of a request', atMost: 2.1 },
  acceptDelays: { suite: 'latency', name: 'async accept: p50 added / delay of a request', atMost: 2.1 },
  cachedDelays: { suite: 'latency', name: 'cache hit: p50 added / delay of a request', atMost: 2.1 },
  readDelays: { suite: 'latency', name: 'read: p50 added / delay of a request', atMost: 1.1 },
  asyncThroughput: { suite: 'async', name: 'async runs finished per second / floor', atLeast: 0.8 },
  acceptThroughput: { suite: 'async', name: 'async runs accepted per second / floor', atLeast: 0.8 },
  stepLatency: { suite: 'steps', name: 'step in a run of 500 / of 100', atMost: 1.2 },
  promptCost: { suite: 'caching', name: 'input of 20 steps with prompt caching / without', atMost: 0.21 },
  adaptationTime: { suite: 'adaptation', name: 'adaptation of 1 MB, ms', atMost: 100 },
  readFunctionLoad: {
    suite: 'bundles',
    name: 'load of the slowest read function / client alone',
    atMost: 1.25,
  },
  runFunctionLoad: { suite: 'bundles', name: 'load of the run function / client alone', atMost: 1.5 },
  listUnits: { suite: 'listing', name: 'read units of a filtered page / at 1,000 executions', atMost: 1.5 },
  listLatency: { suite: 'listing', name: 'p50 of a filtered page / at 1,000 executions', atMost: 1.5 },
  readySeconds: { suite: 'footprint', name: '`npm start` until ready, s', atMost: 1.5 },
  idleMemory: { suite: 'footprint', name: 'idle process tree, MiB (RSS)', atMost: 240 },
  parallelTime: {
    suite: 'parallel',
    name: 'processor time of a sync run at 16 in flight / floor',
    atMost: 2,
  },
  parallelLatency: { suite: 'parallel', name: 'sync p99 at 64 in flight / floor', atMost: 2 },
  batchTime: {
    suite: 'batches',
    name: 'processor time of a run of 500 steps in a batch of ten / alone',
    atMost: 1.2,
  },
  batchMemory: {
    suite: 'batches',
    name: 'peak memory of ten runs of 500 steps in one process / of one',
    atMost: 3,
  },
  timerLateness: { suite: 'timers', name: 'p99 of the lateness of 2,000 runs that wake, s', atMost: 2 },
  besideBatch: {
    suite: 'lines',
    name: 'p95 of runs of another organization, beside a batch / without',
    atMost: 1.5,
  },
  lineTime: { suite: 'lines', name: 'time of a batch / the same runs by a client', atMost: 1.15 },
  firingLateness: {
    suite: 'schedules',
    name: 'lateness of the last of 10,000 firings that are due in the same minute, s',
    atMost: 60,
  },
  parallelMemory: { suite: 'parallel', name: 'gateway and runner at 64 in flight, MiB (RSS)', atMost: 450 },
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
