import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { type LeaseTimes, nextSweep } from '../../core/lease-times.ts'
import type { DeliveryStore, OutboxEntry } from '../../core/ports/notifications.ts'
import type { DeliveryQueue } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'

type Params = {
  deliveries: Pick<DeliveryStore, 'findHandled' | 'getPosition' | 'readOutbox' | 'setPosition'>
  queue: DeliveryQueue
  system: System
  times: LeaseTimes
  /** Kept by the caller from one sweep to the next. */
  memory: OutboxMemory
}

/** By the id of a subject: that a process knows that it is handled, or when it sends its message again. */
export type OutboxMemory = LRUCache<string, 'handled' | number>
export const newOutboxMemory = (): OutboxMemory => new LRUCache({ max: 100_000 })

/**
 * The outbox is read again from this many grace periods before now on: a subject is entered with the time at which
 * its worker began to write. A worker whose write took longer has lost its lease.
 */
const LAG_GRACES = 5
/** What could not be delivered for so long (its record cannot be read) holds up the log no longer. */
const GIVE_UP_MS = 72 * 3_600_000
const MAX_REQUESTS = 50
/** The next sweep continues: after an outage, the log may be longer than what one can read before its timeout. */
const MAX_READ_MS = 20_000

/**
 * Sends the message again of each subject that ended some time ago and whose events are not handled.
 * @returns the age of the oldest of them in milliseconds; 0 without any
 * @throws Unavailable
 */
export async function sweepOutbox({ deliveries, queue, system, times, memory }: Params): Promise<number> {
  const now = system.now()
  const position = await deliveries.getPosition()
  const limit = pLimit(MAX_REQUESTS)
  let oldest = now
  let isEmpty = true
  let reached = now - LAG_GRACES * times.graceMs
  const send = async ({ subject, organizationId, at }: OutboxEntry) => {
    if (now - at < GIVE_UP_MS) oldest = Math.min(oldest, at)
    const sendAt = memory.get(subject.id)
    if (typeof sendAt === 'number' && sendAt > now) return
    await queue.send({ subject, organizationId })
    memory.set(subject.id, nextSweep(times, at, now))
  }
  for await (const page of deliveries.readOutbox({ from: position, before: now - times.graceMs })) {
    const { entries, until } = page
    isEmpty &&= entries.length === 0
    const unknown = entries.filter(({ subject }) => memory.get(subject.id) !== 'handled')
    const handled = await deliveries.findHandled({ subjects: unknown.map(({ subject }) => subject) })
    for (const id of handled) memory.set(id, 'handled')
    const waiting = unknown.filter(({ subject }) => !handled.has(subject.id))
    await Promise.all(waiting.map((entry) => limit(() => send(entry))))
    if (system.now() - now < MAX_READ_MS) continue
    reached = Math.min(reached, until)
    break
  }
  reached = Math.min(reached, oldest)
  if (!isEmpty && reached > position) await deliveries.setPosition({ position: reached })
  return now - oldest
}
