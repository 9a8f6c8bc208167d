import { LRUCache } from 'lru-cache'
import { TooManyRequests } from '../core/limit-errors.ts'
import type { ExecutionStore } from '../core/ports/executions.ts'
import type { System } from '../core/ports/system.ts'

/** Records one more execution of an organization. @throws TooManyRequests at the limit of open executions */
export type Admit = <T>(organizationId: string, record: () => Promise<T>) => Promise<T>

/** `open`: what was counted, and what this process has recorded since then. */
type Count = { open: number; countedAt: number }

const MAX_ORGANIZATIONS = 10_000

/** Below half of the limit, a process counts again after this time, because others start and end runs, too. */
const COUNT_TTL_MS = 10_000

/** An organization at its limit is rejected for this long without another count. */
const REJECTION_TTL_MS = 100

/**
 * The limit on an organization's open executions. They are counted in the index that contains exactly these, so that no
 * crash can make the count wrong. Counting for every run would cost more than the run: below half of the limit, a
 * process counts every 10 s. Above, it counts for every run, one after the other. Several processes can exceed the
 * limit, which is a protection (docs/decisions/0009-open-executions.md).
 */
export function admission(
  { executions, system }: { executions: Pick<ExecutionStore, 'countOpen'>; system: System },
  max: number,
): Admit {
  const counts = new LRUCache<string, Count>({ max: MAX_ORGANIZATIONS })
  const pending = new Map<string, Promise<unknown>>()
  const recording = new Map<string, Set<Promise<unknown>>>()

  /** Executions that are being recorded may or may not be in the index: above half of the limit, they are awaited. */
  async function countOpen(organizationId: string): Promise<number> {
    const unsettled = [...(recording.get(organizationId) ?? [])]
    const counted = await executions.countOpen({ organizationId, max })
    if (unsettled.length === 0 || counted + unsettled.length < max / 2) return counted + unsettled.length
    await Promise.allSettled(unsettled)
    return executions.countOpen({ organizationId, max })
  }

  /** @throws TooManyRequests */
  async function countFor(organizationId: string): Promise<Count> {
    const open = await countOpen(organizationId)
    const count = { open: open + 1, countedAt: system.now() }
    counts.set(organizationId, count)
    if (open >= max) throw new TooManyRequests(max)
    return count
  }

  function recorded<T>(organizationId: string, record: () => Promise<T>): Promise<T> {
    const promise = record()
    const others = recording.get(organizationId) ?? new Set()
    recording.set(organizationId, others.add(promise))
    const forget = () => others.delete(promise) && others.size === 0 && recording.delete(organizationId)
    promise.then(forget, forget)
    return promise
  }

  return async (organizationId, record) => {
    for (;;) {
      const count = counts.get(organizationId)
      const ageMs = count ? system.now() - count.countedAt : Number.POSITIVE_INFINITY
      if (count && count.open < max / 2 && ageMs < COUNT_TTL_MS) {
        count.open++
        return recorded(organizationId, record)
      }
      if (count && count.open > max && ageMs < REJECTION_TTL_MS) throw new TooManyRequests(max)
      const other = pending.get(organizationId)
      if (!other) break
      await other
    }
    const counting = countFor(organizationId)
    const own = counting.then(() => recorded(organizationId, record))
    // Above half of the limit, the next count has to include this run.
    const settled = counting
      .then(({ open }) => (open < max / 2 ? undefined : own))
      .catch(() => undefined)
      .finally(() => pending.delete(organizationId))
    pending.set(organizationId, settled)
    return own
  }
}
