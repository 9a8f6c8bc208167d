import { useEffect, useRef, useState } from 'preact/hooks'
import { watchAttention } from './attention.ts'

const INTERVAL_MS = 3_000
/** Of polls that fail or find nothing new. */
const MAX_INTERVAL_MS = 30_000
/** The same after a time in which there was nothing new, and nobody used the page. */
const MAX_IDLE_INTERVAL_MS = 120_000
const IDLE_AFTER_MS = 600_000

export type Poller = {
  /** Polls after the interval. */
  start: () => void
  /** Someone looks at the page: polls soon, at once if the last time is longer ago than the interval. */
  wake: () => void
  pause: () => void
}

type Options = {
  /** Resolves to what it has read. Polls become fewer while that stays the same. */
  poll: () => Promise<unknown>
  /** @param isLive whether the poll succeeded */
  onResult: (isLive: boolean) => void
  intervalMs?: number
}

/** One at a time, half as often after each that fails or brings nothing: an open tab costs less than $1 a month. */
export function createPoller({ poll, onResult, intervalMs = INTERVAL_MS }: Options): Poller {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isPaused = true
  let isRunning = false
  let polledAt = Date.now()
  /** Of something new, or of somebody who used the page. */
  let activeAt = Date.now()
  /** Polls in sequence that failed, or read nothing new. */
  let failures = 0
  let repetitions = 0
  let last: string | undefined

  function schedule() {
    clearTimeout(timer)
    if (isPaused || isRunning) return
    const isIdle = Date.now() - activeAt > IDLE_AFTER_MS
    const longest = Math.max(isIdle ? MAX_IDLE_INTERVAL_MS : MAX_INTERVAL_MS, intervalMs)
    const dueAt = polledAt + Math.min(intervalMs * 2 ** Math.max(failures, repetitions), longest)
    timer = setTimeout(run, Math.max(dueAt - Date.now(), 0))
  }

  async function run() {
    isRunning = true
    try {
      const read = JSON.stringify(await poll())
      failures = 0
      repetitions = read === last ? repetitions + 1 : 0
      if (repetitions === 0) activeAt = Date.now()
      last = read
    } catch {
      failures += 1
    }
    isRunning = false
    polledAt = Date.now()
    if (!isPaused) onResult(failures === 0)
    schedule()
  }

  return {
    start() {
      isPaused = false
      schedule()
    },
    wake() {
      isPaused = false
      repetitions = 0
      activeAt = Date.now()
      schedule()
    },
    pause() {
      isPaused = true
      clearTimeout(timer)
    },
  }
}

/**
 * Calls a function every few seconds while the page is visible: less and less often while it fails, or reads the same
 * again and again; soon when the window gets the focus, or its user does something.
 * @param poll resolves to what it has read: nothing counts as the same
 * @param key starts again when it changes
 * @param intervalMs null: not at all
 * @returns whether the last call succeeded
 */
export function usePolling(poll: () => Promise<unknown>, key: string, intervalMs?: number | null): boolean {
  const [isLive, setIsLive] = useState(true)
  const latest = useRef(poll)
  latest.current = poll
  useEffect(() => {
    setIsLive(true)
    if (intervalMs === null) return
    const poller = createPoller({
      poll: () => latest.current(),
      onResult: setIsLive,
      ...(intervalMs && { intervalMs }),
    })
    const unwatch = watchAttention({ onUse: poller.wake, onHide: poller.pause })
    if (!document.hidden) poller.start()
    return () => {
      poller.pause()
      unwatch()
    }
  }, [key])
  return isLive
}
