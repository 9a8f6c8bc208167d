import { setImmediate as settle } from 'node:timers/promises'

/** A clock that moves to the next timer when nothing else can run. Times are in milliseconds. */
export function createClock() {
  let time = 0
  /** The next one is the last. */
  const timers: { at: number; callback: () => void }[] = []

  /** Returns what prevents the call. */
  function after(ms: number, callback: () => void): () => void {
    const timer = { at: time + ms, callback }
    let low = 0
    let high = timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((timers[middle]?.at ?? 0) > timer.at) low = middle + 1
      else high = middle
    }
    timers.splice(low, 0, timer)
    return () => {
      timer.callback = () => undefined
    }
  }

  return {
    now: () => time,
    after,
    sleep: (ms: number) => new Promise<void>((resolve) => void after(ms, resolve)),
    /** Runs until nothing is left to do, or until this time. */
    async run(until = Number.POSITIVE_INFINITY): Promise<void> {
      for (let timer = timers.at(-1); timer && timer.at <= until; timer = timers.at(-1)) {
        timers.pop()
        time = timer.at
        timer.callback()
        await settle()
      }
      if (Number.isFinite(until)) time = until
    },
  }
}
