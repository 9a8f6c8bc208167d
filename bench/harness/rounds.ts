/** One side of a comparison; `measure` takes one measurement. */
export type Contender<Name extends string, Measure> = { name: Name; measure: () => Promise<Measure> }

/**
 * Measures all contenders in every round, so that a busy machine slows them all alike. Every second round runs in
 * reverse order, so that no contender always follows the same neighbor. No round starts after `limitMs`, except the
 * first.
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

/** A measure over all rounds. */
export type Spread = { median: number; min: number; max: number }

/** Nearest rank, no interpolation: the smallest value that at least `share` (0 to 1) of all values do not exceed. */
export function percentile(values: number[], share: number): number {
  if (values.length === 0) throw new Error('Cannot take a percentile of an empty list.')
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] as number
}

/** For an even number of values, the mean of the two in the middle. */
export function median(values: number[]): number {
  if (values.length === 0) throw new Error('Cannot take a median of an empty list.')
  const sorted = Float64Array.from(values).sort()
  const half = sorted.length >> 1
  const upper = sorted[half] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2
}

export function toSpread(values: number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/**
 * The ratio of two measures, taken round by round: both sides of one round ran under the same load, so the median of
 * the ratios is steadier than the ratio of the medians.
 */
export function toRatio(values: number[], base: number[]): Spread {
  if (values.length !== base.length) throw new Error('Both sides need the same number of rounds.')
  return toSpread(values.map((value, round) => value / (base[round] as number)))
}
