import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { v7 } from 'uuid'

/** Returns values from 0 (included) to 1 (excluded). */
export type Random = () => number

export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed)
  return () => uniformFloat64(generator)
}

/** A UUIDv7, like the ids of executions. */
export function createId(random: Random, msecs: number, lastBytes?: number): string {
  const bytes = Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256))
  if (lastBytes !== undefined) new DataView(bytes.buffer).setUint16(14, lastBytes)
  return v7({ msecs, random: bytes })
}
