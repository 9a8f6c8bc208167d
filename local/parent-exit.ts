const POLL_MS = 100

/**
 * Calls the listener once when the process that started an npm script is gone. npm forwards a signal to the shell that
 * runs the script. The shell exits without forwarding it to this process.
 * @param parent read before the start, during which it may exit
 */
export function onParentExit(parent: number, listener: () => void): void {
  if (!process.env.npm_lifecycle_event) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    listener()
  }, POLL_MS)
  timer.unref()
}
