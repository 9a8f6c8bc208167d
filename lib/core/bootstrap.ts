/** Enough that the ends of an interval vary with the seed by less than a tenth of the standard error. */
const RESAMPLES = 2_000
/** 95 % of the means of the resamples are between these quantiles. */
const [LOWER, UPPER] = [0.025, 0.975]

/** `low` and `high`: the ends of the 95 % interval of the mean. */
export type Interval = { mean: number; low: number; high: number }

/**
 * The means of several measures of the same cases, with their 95 % intervals by the percentile bootstrap: that of
 * `scipy.stats.bootstrap(…, numpy.mean, method='percentile')`. A resample takes the same cases for all measures.
 * @param measures of one length, which is not 0
 * @param seed a UUID; with the same one, the intervals are the same
 */
export function bootstrapMeans<Name extends string>(
  measures: Record<Name, number[]>,
  seed: string,
): Record<Name, Interval> {
  const names = Object.keys(measures) as Name[]
  const columns = names.map((name) => Float64Array.from(measures[name]))
  const means = columns.map(() => new Float64Array(RESAMPLES))
  const count = columns[0]?.length ?? 0
  const next = randomOf(seed)
  const cases = new Uint32Array(count)
  for (let resample = 0; resample < RESAMPLES; resample++) {
    for (let at = 0; at < count; at++) cases[at] = next() * count
    for (const [index, column] of columns.entries()) {
      let sum = 0
      for (let at = 0; at < count; at++) sum += column[cases[at] as number] as number
      ;(means[index] as Float64Array)[resample] = sum / count
    }
  }
  const intervals = columns.map((column, index) => {
    const sorted = (means[index] as Float64Array).sort()
    const mean = column.reduce((sum, value) => sum + value, 0) / count
    return { mean: round(mean), low: round(quantile(sorted, LOWER)), high: round(quantile(sorted, UPPER)) }
  })
  return Object.fromEntries(names.map((name, index) => [name, intervals[index]])) as Record<Name, Interval>
}

/** The quantile of sorted values, between the two nearest ones; 0 without any. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const position = (sorted.length - 1) * share
  const [below = 0, above = below] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]]
  return below + (above - below) * (position % 1)
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6 || 0

/** Numbers from 0 to 1 by sfc32 (PractRand), whose state begins with the 128 bits of a UUID. */
function randomOf(seed: string): () => number {
  const words = seed.replaceAll('-', '').match(/.{8}/g) ?? []
  let [a = 0, b = 0, c = 0, d = 1] = words.map((word) => Number.parseInt(word, 16) | 0)
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let skipped = 0; skipped < 15; skipped++) next()
  return next
}
