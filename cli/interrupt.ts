import { setTimeout as sleep } from 'node:timers/promises'

type Cleanup = () => Promise<unknown>

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** How long the cleanups may take together before the process ends without them. */
const CLEANUP_MS = 3_000

const cleanups: Cleanup[] = []
let isInterrupted = false

/** Has something done when Ctrl-C ends the process; what was asked for last is done first. Returns how to call it off. */
export function whenInterrupted(cleanup: Cleanup): () => void {
  cleanups.unshift(cleanup)
  return () => {
    const index = cleanups.indexOf(cleanup)
    if (index >= 0) cleanups.splice(index, 1)
  }
}

/** Ends the process on SIGINT and SIGTERM, after the cleanups; a second signal ends it at once. */
export function endOnInterrupt(): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, async () => {
      if (isInterrupted) process.exit(code)
      isInterrupted = true
      await Promise.race([cleanUp(), sleep(CLEANUP_MS)])
      process.exit(code)
    })
  }
}

/** Never comes back once the process is ending: what fails then fails because of it. */
export function unlessInterrupted<T>(work: () => Promise<T>): Promise<T> {
  return isInterrupted ? new Promise<never>(() => undefined) : work()
}

async function cleanUp(): Promise<void> {
  for (const cleanup of [...cleanups]) await cleanup().catch(() => undefined)
}
