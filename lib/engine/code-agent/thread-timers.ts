import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { getCallSites, promisify } from 'node:util'

type StartTimer = (callback: (...values: unknown[]) => void, ...rest: unknown[]) => NodeJS.Timeout

const { clearTimeout } = timers
/** That have neither ended nor been cleared, with or without a reference. */
const pending = new Set<NodeJS.Timeout>()
let hasDetached = false

/**
 * Knows the timers of the agent: Node lists only those with a reference. Replaces the functions of `node:timers` and the
 * global ones; an agent is loaded afterwards.
 */
export function watchTimers(): void {
  const watched = {
    setTimeout: watchStart(timers.setTimeout as StartTimer, true),
    setInterval: watchStart(timers.setInterval as StartTimer, false),
    clearTimeout: watchClear(timers.clearTimeout),
    clearInterval: watchClear(timers.clearInterval),
  }
  Object.defineProperty(watched.setTimeout, promisify.custom, {
    get: () => timersPromises.setTimeout,
  })
  Object.assign(globalThis, watched)
  Object.assign(timers, watched)
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const start = timersPromises[name] as (...values: unknown[]) => unknown
    Object.assign(timersPromises, {
      [name]: (ms: unknown, value?: unknown, options?: { ref?: boolean }) => {
        hasDetached ||= options?.ref === false
        return start(ms, value, options)
      },
    })
  }
}

/** The timers so far are those of the agent's modules, and belong to no run. */
export function keepTimers(): void {
  pending.clear()
  hasDetached = false
}

/** Clears all timers. Returns whether there were any; such a thread is not used again, because modules may rely on them. */
export function clearTimers(): boolean {
  const hadTimers = pending.size > 0 || hasDetached
  for (const timer of pending) clearTimeout(timer)
  pending.clear()
  return hadTimers
}

function watchStart(start: StartTimer, endsItself: boolean): StartTimer {
  return (callback, ...rest) => {
    // Node's own fetch closes its connections after a few seconds.
    if (typeof callback !== 'function' || isCalledByNode()) return start(callback, ...rest)
    const timer = start(
      function (this: unknown, ...values) {
        if (endsItself) pending.delete(timer)
        callback.apply(this, values)
      },
      ...rest,
    )
    pending.add(timer)
    return timer
  }
}

function watchClear(clear: (timer: NodeJS.Timeout | undefined) => void) {
  return (timer: NodeJS.Timeout | undefined) => {
    if (timer) pending.delete(timer)
    clear(timer)
  }
}

const isCalledByNode = (): boolean => getCallSites(3)[2]?.scriptName.startsWith('node:') ?? false
