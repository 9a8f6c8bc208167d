import { useEffect, useState } from 'preact/hooks'

const INTERVAL_MS = 3_000
const MAX_INTERVAL_MS = 30_000

/**
 * Calls a function every few seconds while the page is visible; less and less often while it fails.
 * @param key starts again when it changes
 * @returns whether the last call succeeded
 */
export function usePolling(poll: () => Promise<unknown>, key: string): boolean {
  const [isLive, setIsLive] = useState(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let failures = 0
    let isStopped = false
    const schedule = () => {
      clearTimeout(timer)
      if (isStopped || document.hidden) return
      timer = setTimeout(run, Math.min(INTERVAL_MS * 2 ** failures, MAX_INTERVAL_MS))
    }
    const run = async () => {
      try {
        await poll()
        failures = 0
      } catch {
        failures += 1
      }
      if (isStopped) return
      setIsLive(failures === 0)
      schedule()
    }
    const onVisibility = () => (document.hidden ? clearTimeout(timer) : void run())
    schedule()
    document.addEventListener('visibilitychange', onVisibility)
    return () => {
      isStopped = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [key])
  return isLive
}
