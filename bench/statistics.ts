/** The median of a measure over the rounds, and between which values it moved. */
export type Spread = { median: number; min: number; max: number }

/** The smallest value that at least this part (0 to 1) of all values does not exceed: nearest rank, nothing interpolated. */
export function percentile(values: number[], part: number): number {
  if (values.length === 0) throw new Error('There is no percentile of nothing.')
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)] as number
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: number[]): number {
  if (values.length === 0) throw new Error('There is no median of nothing.')
  const sorted = Float64Array.from(values).sort()
  const half = sorted.length >> 1
  const upper = sorted[half] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2
}

export function spreadOf(values: number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/**
 * How many times `base` each value is. Values of the same round are compared, since a busy machine slowed both: the
 * median of ratios is steadier than the ratio of medians.
 */
export function ratioOf(values: number[], base: number[]): Spread {
  if (values.length !== base.length) throw new Error('Only rounds that both took part in can be compared.')
  return spreadOf(values.map((value, round) => value / (base[round] as number)))
}
