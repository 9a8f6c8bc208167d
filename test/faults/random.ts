/** Numbers that follow from a seed. */
export type Random = {
  /** At least 0, below 1. */
  next: () => number
  /** A whole number, both ends included. */
  between: (min: number, max: number) => number
  pick: <T>(list: readonly [T, ...(readonly T[])]) => T
  shuffled: <T>(list: readonly T[]) => T[]
}

/**
 * Mulberry32 (Tommy Ettinger, public domain): fast-check exports no generator of its own, and its pure-rand is not ours
 * to import. `name` gives each use a stream of its own, so that one that draws more does not shift the others.
 *
 * A seed fixes the schedule: which fault the nth request of a proxy meets, when which process is killed, which runs are
 * asked for in which order. It does not fix what the operating system interleaves: which request is the nth, and what
 * a process was doing when it was killed.
 */
export function seeded(seed: number, name: string): Random {
  let state = [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed | 0)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    shuffled: (list) =>
      list
        .map((item) => ({ item, order: next() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item),
  }
}

/** `FAULTS_SEED`, else any. */
export function seedOf(given: string | undefined = process.env.FAULTS_SEED): number {
  if (!given) return Math.floor(Math.random() * 1_000_000)
  const seed = Number(given)
  if (!Number.isSafeInteger(seed)) throw new Error(`The seed is "${given}"; it must be a whole number.`)
  return seed
}
