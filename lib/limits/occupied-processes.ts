import { LRUCache } from 'lru-cache'
import { TooManyOpenRequests } from '../core/limit-errors.ts'
import type { OpenRequests, RateStore } from '../core/ports/access.ts'
import { describeCause, logger } from '../logger.ts'

/** A write unit in this time costs less than 4 % of a process with 256 MB. https://aws.amazon.com/lambda/pricing/ */
export const WINDOW_MS = 6_000

/** A process counts once it has spent this much of a window on an organization. Shorter use costs nothing. */
export const FREE_MS = 3_000

/** A process counts for the next window this long before it begins, so that open requests precede new ones. */
export const LEAD_MS = 1_000

/**
 * For so many windows after a refusal, and in the one after it has counted, a process counts before it does anything
 * for the organization.
 */
const CAUTIOUS_WINDOWS = 10

/** Half of the write units per second of one partition key, because up to two processes in three count at once. */
const MAX_OF_KEY = 500

const MAX_ORGANIZATIONS = 1_000

/** What this process knows about an organization. Windows are numbers since the epoch. */
type Usage = {
  /** The last window in which the organization occupied this process, and for how long. */
  window: number
  ms: number
  /** The last window that this process counts in. */
  counted: number
  /** The last window in which there was no room for it. */
  refused: number
}

/** Replaced by simulations. */
export type Clock = {
  now: () => number
  /** Calls back after this time. Returns what prevents it. */
  after: (ms: number, callback: () => void) => () => void
  random: () => number
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

type Params = {
  rates: Pick<RateStore, 'countProcess'>
  functionName: string
  /** Processes that the requests of one organization may occupy. */
  max: number
  clock?: Clock
}

/**
 * Limits the processes of a function that the requests of one organization occupy, where a process has one request at a
 * time. A process counts in a window of time once the organization has used it for half of it; it is a write to a
 * counter that expires, so that nothing has to be returned and a crash leaves nothing behind. A process for which there
 * is no room ends what it does for the organization, and refuses more until the window is over. A count that fails is a
 * refusal (docs/decisions/0052).
 */
export function occupiedProcesses({ rates, functionName, max, clock = SYSTEM_CLOCK }: Params): OpenRequests {
  const { now, after, random } = clock
  const usages = new LRUCache<string, Usage>({ max: MAX_ORGANIZATIONS })
  const shards = Math.ceil(max / MAX_OF_KEY)
  const name = `${functionName}#${Math.floor(random() * shards)}`
  const currentWindow = () => Math.floor(now() / WINDOW_MS)

  function usageOf(organizationId: string): Usage {
    const known = usages.get(organizationId)
    const window = currentWindow()
    const none = { counted: Number.NEGATIVE_INFINITY, refused: Number.NEGATIVE_INFINITY }
    const usage: Usage = known ?? { window, ms: 0, ...none }
    if (usage.window !== window) Object.assign(usage, { window, ms: 0 })
    usages.set(organizationId, usage)
    return usage
  }

  /** Whether there is room for this process in the window. */
  async function count(organizationId: string, usage: Usage, window: number): Promise<boolean> {
    if (usage.counted >= window) return true
    const endsAt = (window + 1) * WINDOW_MS
    const processes = await rates
      .countProcess({ organizationId, name, window, endsAt })
      .catch((error: unknown) => {
        logger.warn('open requests not counted', { organizationId, cause: describeCause(error) })
        return Number.POSITIVE_INFINITY
      })
    const hasRoom = processes <= Math.ceil(max / shards)
    if (hasRoom) usage.counted = Math.max(usage.counted, window)
    else usage.refused = Math.max(usage.refused, window)
    return hasRoom
  }

  return {
    async hold(_kind, { organizationId }) {
      const usage = usageOf(organizationId)
      const { window } = usage
      const isSuspect = usage.counted === window - 1 || usage.refused >= window - CAUTIOUS_WINDOWS
      const isCautious = usage.counted < window && isSuspect
      if (usage.refused >= window || (isCautious && !(await count(organizationId, usage, window))))
        throw new TooManyOpenRequests(
          `Your organization has as many open requests as it may at the same time: they occupy ${max} processes.`,
        )
      const startedAt = now()
      const full = new AbortController()
      let isOpen = true
      let stop = () => {}

      function scheduleCount(): void {
        const isCounted = usage.counted >= currentWindow()
        const next = usage.counted + 1
        const at = isCounted ? next * WINDOW_MS - random() * LEAD_MS : startedAt + FREE_MS - usage.ms
        stop = after(Math.max(at - now(), 0), async () => {
          const hasRoom = await count(organizationId, usage, isCounted ? next : currentWindow())
          if (!hasRoom) full.abort()
          else if (isOpen) scheduleCount()
        })
      }

      function release(): void {
        if (!isOpen) return
        isOpen = false
        stop()
        const { window } = usageOf(organizationId)
        usage.ms += now() - Math.max(startedAt, window * WINDOW_MS)
      }

      scheduleCount()
      return { full: full.signal, release }
    },
  }
}
