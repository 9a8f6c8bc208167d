import { createHash } from 'node:crypto'
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus'

/** Pseudorandom values that follow from a seed. */
export type Random = {
  /** At least 0, below 1. */
  next: () => number
  /** An integer, both ends included. */
  between: (min: number, max: number) => number
  pick: <T>(list: readonly [T, ...T[]]) => T
  /** A shuffled copy. */
  shuffle: <T>(list: readonly T[]) => T[]
}

/** `stream` names an independent sequence of the same seed: drawing more from one does not shift another. */
export function seededRandom(seed: number, stream: string): Random {
  const hash = createHash('sha256').update(`${seed} ${stream}`).digest()
  const generator = xoroshiro128plusFromState([0, 4, 8, 12].map((offset) => hash.readInt32LE(offset)))
  const next = () => uniformFloat64(generator)
  const between = (min: number, max: number) => uniformInt(generator, min, max)
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    shuffle: (list) => {
      const ordered = list.map((item) => ({ item, order: next() })).sort((a, b) => a.order - b.order)
      return ordered.map(({ item }) => item)
    },
  }
}
