import { MAX_WAIT_SECONDS } from '../../lib/core/limits.ts'
import { INTERVAL_MS } from '../../lib/engine/wait-for-completion.ts'
import { retryAfterSeconds } from '../../lib/http/responses.ts'
import type { Row } from '../report.ts'
import { addUsage, perMillion, scaleUsage, toBill, totalOf, type Usage } from './prices.ts'
import { type Load, MODEL_RUN_SECONDS, readUsage, UNDER_LOAD } from './usage.ts'

/** When a client reads an execution: it lets the service wait, or pauses. In seconds, by the time since the start. */
export type Strategy = { waitSeconds: (age: number) => number; pauseSeconds: (age: number) => number }

const NEVER = () => 0

/** What `waitForEnd` of the TypeScript client does, and `wait` of the Python example. */
export const CLIENT: Strategy = {
  waitSeconds: (age) => (age === 0 ? 2 : 0),
  pauseSeconds: retryAfterSeconds,
}

const STRATEGIES: Record<string, Strategy> = {
  'our clients: `Prefer: wait=2`, then `Retry-After`': CLIENT,
  'every second': { waitSeconds: NEVER, pauseSeconds: () => 1 },
  'every 5 s': { waitSeconds: NEVER, pauseSeconds: () => 5 },
  '`Prefer: wait=20`, again and again': { waitSeconds: () => 20, pauseSeconds: NEVER },
}

/** What the ways to read the result of a model run take, per million runs. */
export async function readingRows(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, strategy] of Object.entries(STRATEGIES)) {
    const { usage, requests, delaySeconds } = await meanReading(strategy, 100, UNDER_LOAD)
    rows.push({
      'reading the result of a run of 20 s': name,
      requests: requests.toFixed(1),
      'delay, s': delaySeconds.toFixed(1),
      'US$ per million': perMillion(totalOf(toBill(usage))),
    })
  }
  return rows
}

/** The mean of runs that take a quarter less to a quarter more, so that no strategy fits by chance. */
export async function meanReading(strategy: Strategy, payloadBytes: number, load: Load) {
  const durations = Array.from({ length: 51 }, (_, index) => MODEL_RUN_SECONDS * (0.75 + index / 100))
  const readings: Awaited<ReturnType<typeof readUntil>>[] = []
  for (const seconds of durations) readings.push(await readUntil(strategy, seconds, payloadBytes, load))
  const mean = (value: (reading: (typeof readings)[number]) => number) =>
    readings.reduce((total, reading) => total + value(reading), 0) / readings.length
  return {
    usage: scaleUsage(addUsage(...readings.map(({ usage }) => usage)), 1 / readings.length),
    requests: mean(({ requests }) => requests),
    delaySeconds: mean(({ delaySeconds }) => delaySeconds),
  }
}

async function readUntil(strategy: Strategy, endsAt: number, payloadBytes: number, load: Load) {
  const usages: Usage[] = []
  for (let age = 0; ; ) {
    const limit = Math.min(strategy.waitSeconds(age), MAX_WAIT_SECONDS)
    const { seconds, statusReads } = waitFor(endsAt - age, limit)
    usages.push(await readUsage({ payloadBytes, load, waitMs: seconds * 1000, statusReads }))
    age += seconds
    if (age >= endsAt)
      return { usage: addUsage(...usages), requests: usages.length, delaySeconds: age - endsAt }
    age += strategy.pauseSeconds(age)
  }
}

/** How long `waitForCompletion` waits for an end in so many seconds, and how often it reads the status. */
function waitFor(endsIn: number, limit: number): { seconds: number; statusReads: number } {
  if (limit === 0) return { seconds: 0, statusReads: 0 }
  let [seconds, statusReads] = [0, 1]
  for (let interval = INTERVAL_MS.first / 1000; seconds < Math.min(endsIn, limit); statusReads++) {
    seconds = Math.min(seconds + interval, limit)
    interval = Math.min(interval * INTERVAL_MS.factor, INTERVAL_MS.max / 1000)
  }
  return { seconds, statusReads }
}
