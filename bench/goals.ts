import type { Spread } from './harness/rounds.ts'

export type PartName =
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

type Goal = { part: PartName; name: string; atMost?: number; atLeast?: number }

/** What `npm run bench` checks. README.md explains each figure. */
export const GOALS = {
  syncLatency: { part: 'overhead', name: 'sync p50 / floor', atMost: 1.1 },
  syncThroughput: {
    part: 'overhead',
    name: 'sync runs per second at 16 in flight / floor',
    atLeast: 0.9,
  },
  asyncLatency: { part: 'overhead', name: 'async readable / sync p50', atMost: 1.5 },
  cachedLatency: { part: 'overhead', name: 'cached / uncached p50', atMost: 0.9 },
  isolationLatency: { part: 'overhead', name: 'sync p50 / without its thread', atMost: 1.15 },
  syncDelays: { part: 'latency', name: 'sync: p50 added / delay of a request', atMost: 2.1 },
  acceptDelays: { part: 'latency', name: 'async accept: p50 added / delay of a request', atMost: 2.1 },
  cachedDelays: { part: 'latency', name: 'cache hit: p50 added / delay of a request', atMost: 2.1 },
  readDelays: { part: 'latency', name: 'read: p50 added / delay of a request', atMost: 1.1 },
  asyncThroughput: { part: 'async', name: 'async runs finished per second / floor', atLeast: 0.8 },
  acceptThroughput: { part: 'async', name: 'async runs accepted per second / floor', atLeast: 0.8 },
  stepLatency: { part: 'steps', name: 'step in a run of 500 / of 100', atMost: 1.2 },
  promptCost: { part: 'caching', name: 'input of 20 steps with prompt caching / without', atMost: 0.21 },
  adaptationTime: { part: 'adaptation', name: 'adaptation of 1 MB, ms', atMost: 100 },
  readFunctionLoad: {
    part: 'bundles',
    name: 'load of the slowest read function / client alone',
    atMost: 1.25,
  },
  runFunctionLoad: { part: 'bundles', name: 'load of the run function / client alone', atMost: 1.5 },
  listUnits: { part: 'listing', name: 'read units of a filtered page / at 1,000 executions', atMost: 1.5 },
  listLatency: { part: 'listing', name: 'p50 of a filtered page / at 1,000 executions', atMost: 1.5 },
  readySeconds: { part: 'footprint', name: '`npm start` until ready, s', atMost: 1.5 },
  idleMemory: { part: 'footprint', name: 'idle process tree, MiB (RSS)', atMost: 240 },
  parallelTime: { part: 'parallel', name: 'processor time of a sync run at 16 in flight / floor', atMost: 2 },
  parallelLatency: { part: 'parallel', name: 'sync p99 at 64 in flight / floor', atMost: 2 },
  parallelMemory: { part: 'parallel', name: 'gateway and runner at 64 in flight, MiB (RSS)', atMost: 450 },
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
