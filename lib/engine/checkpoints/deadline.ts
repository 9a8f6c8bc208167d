/** When a worker must hand a run over: after `drain` no further step begins, at `stop` the current one is abandoned. */
export type WorkerDeadline = { drain: AbortSignal; stop: AbortSignal }

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal

/** Shares of a worker's time reserved for finishing the current step, and for releasing the run. */
const LAST_STEP = 0.15
const RELEASE = 0.02

/** The deadline of a worker with this many milliseconds left. */
export function deadlineIn(remainingMs: number): WorkerDeadline {
  return {
    drain: AbortSignal.timeout(Math.floor(remainingMs * (1 - LAST_STEP))),
    stop: AbortSignal.timeout(Math.floor(remainingMs * (1 - RELEASE))),
  }
}

/** A deadline without a drain phase. */
export function hardDeadline(ms: number): WorkerDeadline {
  return { drain: NEVER, stop: AbortSignal.timeout(ms) }
}
