/** A part of a range, from `from` up to and without `to`. */
export type Bucket<T> = { from: number; to: number; items: T[] }

/** Round lengths of time, in milliseconds. */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const LENGTHS = [
  ...[1, 2, 5, 10, 15, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 4, 6, 12].map((each) => each * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((each) => each * DAY),
]

/** Groups items by their time (milliseconds since the epoch) into at most `max` parts of a round length. In order. */
export function bucketByTime<T>(items: T[], timeOf: (item: T) => number, max: number): Bucket<T>[] {
  if (items.length === 0) return []
  const times = items.map(timeOf)
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  const fits = (length: number) => Math.floor(last / length) - Math.floor(first / length) < max
  const length = LENGTHS.find(fits) ?? Math.ceil((last - first + 1) / max)
  const start = Math.floor(first / length) * length
  const count = Math.floor((last - start) / length) + 1
  const buckets = Array.from({ length: count }, (_, index): Bucket<T> => {
    const from = start + index * length
    return { from, to: from + length, items: [] }
  })
  for (const [index, item] of items.entries())
    buckets[Math.floor(((times[index] ?? 0) - start) / length)]?.items.push(item)
  return buckets
}

/** Limits of a histogram of durations in milliseconds, about three for each power of ten. */
const LIMITS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 864e5]

/** Counts durations (milliseconds) between limits that grow. Without empty parts before the first and after the last. */
export function histogram(durations: number[]): Bucket<number>[] {
  const limits = [0, ...LIMITS, Number.POSITIVE_INFINITY]
  const buckets = limits.slice(1).map((to, index): Bucket<number> => {
    const from = limits[index] ?? 0
    return { from, to, items: durations.filter((duration) => duration >= from && duration < to) }
  })
  const isFilled = ({ items }: Bucket<number>) => items.length > 0
  return buckets.slice(Math.max(buckets.findIndex(isFilled), 0), buckets.findLastIndex(isFilled) + 1)
}
