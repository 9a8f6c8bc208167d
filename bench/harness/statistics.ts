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
