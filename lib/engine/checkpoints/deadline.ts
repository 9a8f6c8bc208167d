/** When a worker has to leave a run for another to go on with: `soon` lets it end the step at hand, `now` does not. */
export type Departure = { soon: AbortSignal; now: AbortSignal }

/** Thrown to a run between two steps when its worker has to leave soon. */
export class WorkerLeaves extends Error {}

/** A signal that does not abort. */
export const NEVER: AbortSignal = new AbortController().signal

/** Parts of a worker's time that are kept: for a last step, and for giving the run back. */
const LAST_STEP = 0.15
const GIVING_BACK = 0.02

/** The departure of a worker that has this many milliseconds left. */
export function departureIn(remainingMs: number): Departure {
  return {
    soon: AbortSignal.timeout(Math.floor(remainingMs * (1 - LAST_STEP))),
    now: AbortSignal.timeout(Math.floor(remainingMs * (1 - GIVING_BACK))),
  }
}

/** A departure at a moment that is not announced. */
export function departureAfter(ms: number): Departure {
  return { soon: NEVER, now: AbortSignal.timeout(ms) }
}
