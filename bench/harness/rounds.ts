import { percentile } from './statistics.ts'

/** One side of a comparison; `measure` takes one measurement. */
export type Contender<Name extends string, Measure> = { name: Name; measure: () => Promise<Measure> }

/**
 * Measures all contenders in every round, so that a busy machine slows them all alike. Every second round runs in
 * reverse order, so that no contender always follows the same neighbor. No round starts after `limitMs`, except the first.
 * @returns the measurements of each contender in the order of the rounds
 */
export async function interleave<Name extends string, Measure>(
  contenders: Contender<Name, Measure>[],
  rounds: number,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<Record<Name, Measure[]>> {
  const results = Object.fromEntries(contenders.map(({ name }) => [name, []])) as unknown as Record<
    Name,
    Measure[]
  >
  const end = performance.now() + limitMs
  for (let round = 0; round < rounds && (round === 0 || performance.now() < end); round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const { name, measure } of order) results[name].push(await measure())
  }
  return results
}

/** Performs one operation and returns its latency in milliseconds. */
export type Operation = () => Promise<number>

export type Load = { latencies: number[]; p50: number; perSecond: number }

type LoadOptions = { concurrency: number; durationMs: number; operation: Operation }

/** Keeps `concurrency` operations in flight for `durationMs`, then waits for those that have started. */
export async function generateLoad({ concurrency, durationMs, operation }: LoadOptions): Promise<Load> {
  const latencies: number[] = []
  const startedAt = performance.now()
  const end = startedAt + durationMs
  const repeat = async () => {
    do latencies.push(await operation())
    while (performance.now() < end)
  }
  await Promise.all(Array.from({ length: concurrency }, repeat))
  const seconds = (performance.now() - startedAt) / 1000
  return { latencies, p50: percentile(latencies, 0.5), perSecond: latencies.length / seconds }
}

/** Turns an action into an operation that times it. */
export const timed = (action: () => Promise<unknown>): Operation => {
  return async () => {
    const startedAt = performance.now()
    await action()
    return performance.now() - startedAt
  }
}
