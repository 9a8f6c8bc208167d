import type { Version } from '../../core/agent.ts'
import type { Execution } from '../../core/execution.ts'
import { DEADLINE_EXCEEDED } from '../../core/transitions.ts'

/**
 * When a worker must hand a run over: after `drain` no further step begins, at `stop` the current one is abandoned.
 * `stopsAt`: when `stop` aborts if nothing aborts it earlier, in milliseconds since the epoch; absent if unknown.
 */
export type WorkerDeadline = { drain: AbortSignal; stop: AbortSignal; stopsAt?: number | undefined }

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal

/** Shares of a worker's time reserved for finishing the current step, and for releasing the run. */
const LAST_STEP = 0.15
const RELEASE = 0.02

/** A deadline that was set by a timer. `clear` stops the timer, which would retain the signals until it fires. */
export type TimedDeadline = WorkerDeadline & { clear: () => void }

/**
 * The deadline of a worker with this many milliseconds left.
 * @param shutdown when its process has to stop earlier
 */
export function deadlineIn(remainingMs: number, shutdown?: WorkerDeadline): TimedDeadline {
  const drain = abortIn(remainingMs * (1 - LAST_STEP))
  const stop = abortIn(remainingMs * (1 - RELEASE))
  const clear = () => {
    drain.clear()
    stop.clear()
  }
  return {
    drain: shutdown ? AbortSignal.any([drain.signal, shutdown.drain]) : drain.signal,
    stop: shutdown ? AbortSignal.any([stop.signal, shutdown.stop]) : stop.signal,
    stopsAt: stop.at,
    clear,
  }
}

/** A deadline without a drain phase. @param earlier brings it forward */
export function hardDeadline(ms: number, earlier?: AbortSignal): TimedDeadline {
  const { signal, at: stopsAt, clear } = abortIn(ms)
  return { drain: NEVER, stop: earlier ? AbortSignal.any([signal, earlier]) : signal, stopsAt, clear }
}

/** `AbortSignal.timeout` with a timer that can be cleared. */
function abortIn(ms: number): { signal: AbortSignal; at: number; clear: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), Math.floor(ms)).unref()
  return { signal: controller.signal, at: Date.now() + ms, clear: () => clearTimeout(timer) }
}

/**
 * When the time of a run that begins now is up, and how it ends then: at the version's timeout, which counts what its
 * workers had of all attempts, or at the execution's deadline.
 */
export function timeLimit({ workedMs, deadlineAt }: Execution, { execution }: Version, now: number) {
  const { timeoutSeconds } = execution
  const timeoutAt =
    timeoutSeconds === null ? Number.POSITIVE_INFINITY : now + timeoutSeconds * 1000 - workedMs
  if (deadlineAt <= timeoutAt) return { endsAt: deadlineAt, error: DEADLINE_EXCEEDED }
  const message = `The run did not finish within ${timeoutSeconds} seconds.`
  return { endsAt: timeoutAt, error: { code: 'TimedOut', message } }
}

/**
 * What `work` resolves to, or what `onAbort` returns if the signal aborts first. Node retains a combined signal for as
 * long as it has a listener and one of its sources can abort, and with it the result: the run's output.
 */
export async function untilAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  onAbort: () => T | Promise<T>,
): Promise<T> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>()
  const listener = () => resolve()
  if (signal.aborted) resolve()
  else signal.addEventListener('abort', listener, { once: true })
  try {
    return await Promise.race([work, aborted.then(onAbort)])
  } finally {
    signal.removeEventListener('abort', listener)
  }
}
