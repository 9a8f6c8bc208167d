import { generateLoad, interleave, type Load, toRatio } from '../harness/rounds.ts'
import { floorRun, isolatedCall, noOpRuns, startWithFloor } from '../harness/runs.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const FULL = { rounds: 15, durationMs: 700, warmUpMs: 5_000 }
const QUICK = { rounds: 3, durationMs: 400, warmUpMs: 1_000 }
const NAMES = ['floor', 'sync', 'cached', 'async', 'thread'] as const

type Loads = Record<(typeof NAMES)[number], Load[]>

/** The cost of a no-op run, compared with a server that only does the same reads and writes. */
export async function overhead({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, durationMs, warmUpMs } = quick ? QUICK : FULL
  const { service, floor } = await startWithFloor(workspace)
  const { fillCache, ...runs } = noOpRuns(service)
  const operations = { floor: floorRun(floor.url), thread: isolatedCall(), ...runs }
  await fillCache()

  const measure = (concurrency: number): Promise<Loads> => {
    log(`${concurrency} in flight, ${rounds} rounds`)
    const contenders = NAMES.map((name) => ({
      name,
      measure: () => generateLoad({ concurrency, durationMs, operation: operations[name] }),
    }))
    return interleave(contenders, rounds)
  }
  log('warm-up')
  for (const name of NAMES)
    await generateLoad({ concurrency: 16, durationMs: warmUpMs, operation: operations[name] })
  const single = await measure(1)
  const parallel = await measure(16)

  const p50s = (name: keyof Loads) => single[name].map(({ p50 }) => p50)
  return {
    figures: {
      syncLatency: toRatio(p50s('sync'), p50s('floor')),
      syncThroughput: toRatio(rates(parallel.sync), rates(parallel.floor)),
      asyncLatency: toRatio(p50s('async'), p50s('sync')),
      cachedLatency: toRatio(p50s('cached'), p50s('sync')),
      isolationLatency: toRatio(
        p50s('sync'),
        p50s('sync').map((p50, round) => p50 - (p50s('thread')[round] ?? 0)),
      ),
    },
    details: {
      title: 'Runs of an agent that does nothing; async latency counts from the 202 response',
      rows: [
        ...spreadRows(byName('p50 ms, 1 in flight', p50s)),
        ...spreadRows(byName('runs/s, 16 in flight', (name) => rates(parallel[name]))),
      ],
    },
  }
}

const rates = (loads: Load[]) => loads.map(({ perSecond }) => perSecond)

const byName = (measure: string, valuesOf: (name: keyof Loads) => number[]) =>
  Object.fromEntries(NAMES.map((name) => [`${name}: ${measure}`, valuesOf(name)]))
