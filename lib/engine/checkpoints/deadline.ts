import type { Version } from '../../core/agent.ts'
import type { Execution } from '../../core/execution.ts'
import { DEADLINE_EXCEEDED } from '../../core/execution-errors.ts'

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
  const drainOrShutdown = shutdown && anyOf(drain.signal, shutdown.drain)
  const stopOrShutdown = shutdown && anyOf(stop.signal, shutdown.stop)
  const clear = () => {
    for (const part of [drain, stop, drainOrShutdown, stopOrShutdown]) part?.clear()
  }
  return {
    drain: drainOrShutdown?.signal ?? drain.signal,
    stop: stopOrShutdown?.signal ?? stop.signal,
    stopsAt: stop.at,
    clear,
  }
}

/** A deadline without a drain phase. @param earlier brings it forward */
export function hardDeadline(ms: number, earlier?: AbortSignal): TimedDeadline {
  const timed = abortIn(ms)
  const combined = earlier && anyOf(timed.signal, earlier)
  const clear = () => {
    timed.clear()
    combined?.clear()
  }
  return { drain: NEVER, stop: combined?.signal ?? timed.signal, stopsAt: timed.at, clear }
}

/**
 * `AbortSignal.any` for a run. `clear` ends it: Node keeps a list of what each signal is combined with, which costs
 * every run more than the two listeners.
 */
export function anyOf(...signals: AbortSignal[]): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const abort = ({ target }: { target: unknown }) => controller.abort((target as AbortSignal).reason)
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason)
    else signal.addEventListener('abort', abort, { once: true })
  }
  const clear = () => {
    for (const signal of signals) signal.removeEventListener('abort', abort)
  }
  return { signal: controller.signal, clear }
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
