import { SMALL_QUOTA } from '../core/limits.ts'
import type { RateStore } from '../core/ports/access.ts'
import { type Environment, SHARED_CONCURRENCY, SHARED_WORKER } from '../environment.ts'
import { describeCause, logger } from '../logger.ts'
import { readKnownQuota } from './known-quota.ts'
import { type Clock, LEAD_MS, SYSTEM_CLOCK, WINDOW_MS } from './occupied-processes.ts'

/**
 * Shares of a small quota that the processes of queues may occupy: of the runners of both run queues together, and of
 * deliveries. One organization may occupy half with open requests, so that a fifth is left for short ones.
 */
export const QUEUE_SHARES = { runners: 0.2, deliveries: 0.1 } as const

/** The owner of the counters, which no organization is. */
const OWNER = 'QUEUES'

/** After so long per refusal of a window, a message is tried again: those of a backlog do not return together. */
const RETRY_MS = 1_000

type Params = {
  rates: Pick<RateStore, 'countProcess' | 'getQuota'>
  name: keyof typeof QUEUE_SHARES
  environment?: Environment
  clock?: Clock
}

/**
 * Keeps what a queue starts from taking all of a small quota that the sweeper has found: the event source mapping of
 * the queue does not know it. Each process counts itself in windows of time, as `occupiedProcesses`, but before it
 * works, because a run that has begun cannot be returned. A count that fails limits nothing: what does not reach the
 * table ends soon.
 * @returns what does the work of an invocation, or lets the queue have it back: `giveBack` sends it again after so many
 * milliseconds
 */
export function shareOfQueue({ rates, name, environment = process.env, clock = SYSTEM_CLOCK }: Params) {
  const { now, after, random } = clock
  // Managed instances are no part of the quota.
  const isLimited = environment[SHARED_CONCURRENCY] === 'unknown' && environment[SHARED_WORKER] !== 'on'
  const readQuota = readKnownQuota(rates, now)
  let counted = Number.NEGATIVE_INFINITY

  const count = (window: number): Promise<number> =>
    rates
      .countProcess({ organizationId: OWNER, name, window, endsAt: (window + 1) * WINDOW_MS })
      .catch((error: unknown) => {
        logger.warn('process of a queue not counted', { queue: name, cause: describeCause(error) })
        return 0
      })

  /** Counts the process in each window that begins while it works, before those that begin to work in it. */
  function keepCounted(): () => void {
    let stop = () => {}
    const schedule = () => {
      const next = counted + 1
      const at = next * WINDOW_MS - random() * LEAD_MS
      stop = after(Math.max(at - now(), 0), () => {
        counted = next
        schedule()
        void count(next)
      })
    }
    schedule()
    return () => stop()
  }

  return async <T>(work: () => Promise<T>, giveBack: (delayMs: number) => Promise<T>): Promise<T> => {
    const quota = isLimited ? await readQuota() : null
    if (quota === null || quota >= SMALL_QUOTA) return work()
    const window = Math.floor(now() / WINDOW_MS)
    if (counted < window) {
      const refusals = (await count(window)) - Math.max(1, Math.floor(quota * QUEUE_SHARES[name]))
      if (refusals > 0) return giveBack(refusals * RETRY_MS)
      counted = window
    }
    const stop = keepCounted()
    return work().finally(stop)
  }
}
