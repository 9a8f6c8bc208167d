import { SETTINGS } from '../../infra/settings.ts'
import { seededRandom } from '../../test/support/data/random.ts'
import { percentile } from '../harness/rounds.ts'
import type { Row } from '../report.ts'
import { sum, toBill, totalOf } from './prices.ts'
import { MODEL_RUN_SECONDS, UNDER_LOAD, usageOf } from './usage.ts'

const RUNNERS = SETTINGS.runnerConcurrency.parse(undefined)
const BATCH = SETTINGS.runnerBatch.parse(undefined)
const RUNS_PER_SECOND = [1, 2.5, 5, 10, 15, 20]
const SIMULATED_RUNS = 20_000

/** How full batches are under a steady load, and what a million runs with 0.1 kB then take. */
export function batchRows(): Promise<Row[]> {
  return Promise.all(
    RUNS_PER_SECOND.map(async (runsPerSecond) => {
      const { runsPerInvocation, share, waits } = simulateRunners(runsPerSecond)
      const load = { ...UNDER_LOAD, runsPerInvocation: 1 / share }
      const bill = toBill(await usageOf('async model', 100, load))
      return {
        'model runs of 20 s per second': runsPerSecond,
        'runs per invocation': runsPerInvocation.toFixed(1),
        'share of an invocation': share.toFixed(2),
        'wait for a runner, p95 s': percentile(waits, 0.95).toFixed(1),
        'Lambda time, US$ per million': (bill['Lambda time'] * 1e6).toFixed(2),
        'Total, US$ per million': (totalOf(bill) * 1e6).toFixed(2),
      }
    }),
  )
}

/**
 * Runs arrive at random. A free runner takes what waits, ten at most, and is free when the slowest has ended. Runs
 * take a quarter less to a quarter more. `share`: seconds of runners per second of a run.
 */
export function simulateRunners(runsPerSecond: number) {
  const random = seededRandom(1, `${runsPerSecond}`)
  const freeAt = Array.from({ length: RUNNERS }, () => 0)
  const arrivals: number[] = []
  for (let now = 0; arrivals.length < SIMULATED_RUNS; arrivals.push(now))
    now -= Math.log(1 - random.next()) / runsPerSecond
  const waits: number[] = []
  const [seconds, busy]: [number[], number[]] = [[], []]
  for (let next = 0; next < arrivals.length; ) {
    const runner = freeAt.indexOf(Math.min(...freeAt))
    const startedAt = Math.max(freeAt[runner] ?? 0, arrivals[next] ?? 0)
    const batch: number[] = []
    for (; batch.length < BATCH && (arrivals[next] ?? Number.POSITIVE_INFINITY) <= startedAt; next++) {
      batch.push(MODEL_RUN_SECONDS * (0.75 + random.next() / 2))
      waits.push(startedAt - (arrivals[next] ?? 0))
    }
    const longest = Math.max(...batch)
    freeAt[runner] = startedAt + longest
    seconds.push(...batch)
    busy.push(longest)
  }
  return { runsPerInvocation: waits.length / busy.length, share: sum(busy) / sum(seconds), waits }
}
