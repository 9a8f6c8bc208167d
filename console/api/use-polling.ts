import { useEffect, useRef, useState } from 'preact/hooks'
import { watchAttention } from './attention.ts'
import { createPoller } from './poller.ts'

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
