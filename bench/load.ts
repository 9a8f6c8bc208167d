import { percentile } from './statistics.ts'

/** What one turn gave: milliseconds of each run, and how many ended a second. */
export type Load = { samples: number[]; p50: number; perSecond: number }

type Options = { inFlight: number; forMs: number; run: () => Promise<void> }

/** Keeps so many runs in flight for a while: each that ends is followed by another. Those begun are waited for. */
export async function load({ inFlight, forMs, run }: Options): Promise<Load> {
  const samples: number[] = []
  const startedAt = performance.now()
  const end = startedAt + forMs
  const lane = async () => {
    do {
      const begunAt = performance.now()
      await run()
      samples.push(performance.now() - begunAt)
    } while (performance.now() < end)
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const seconds = (performance.now() - startedAt) / 1000
  return { samples, p50: percentile(samples, 0.5), perSecond: samples.length / seconds }
}
