import type { FeedQueue } from '../../core/ports/queues.ts'
import type { Schedule } from '../../core/schedule.ts'
import { type Engine, timesOf } from '../engine.ts'

/** What sends the message of a firing that is due soon. */
export type TimerParts = Pick<Engine, 'system' | 'times'> & { queue: Pick<FeedQueue, 'fire'> }

/**
 * Sends the message of a time that the next sweep may be too late for.
 * @returns when the timer looks at it: after that message must have been lost, if there is one
 */
export async function setTimer(
  { queue, system, times }: TimerParts,
  { organizationId, agentId, name: schedule }: Pick<Schedule, 'organizationId' | 'agentId' | 'name'>,
  at: number,
): Promise<number> {
  const { leaseMs, graceMs } = timesOf({ times })
  const delayMs = Math.max(at - system.now(), 0)
  if (delayMs >= 2 * leaseMs) return at
  const sending = queue.fire({ organizationId, agentId, schedule, at, delayMs })
  return sending.then(
    () => at + 2 * graceMs,
    () => at,
  )
}
