import { LRUCache } from 'lru-cache'
import { TooManyRequests } from '../../core/errors.ts'
import type { ExecutionStore, System } from '../../core/ports.ts'

/** Records one more execution of an organization. @throws TooManyRequests at the limit of open executions */
export type Admit = <T>(organizationId: string, record: () => Promise<T>) => Promise<T>

/** `admitted`: executions recorded by this process since `open` was counted. */
type Count = { open: number; countedAt: number; admitted: number }

const MAX_ORGANIZATIONS = 10_000

/** A count is valid for this long, and until this share of the remaining capacity has been admitted here. */
const COUNT_TTL_MS = 10_000
const SHARE = 1 / 20

/** An organization at its limit is rejected for this long without another count. */
const REJECTION_TTL_MS = 100

/**
 * The limit on an organization's open executions. They are counted in the index that contains exactly these, so that
 * no crash can make the count wrong. Counting for every run would cost more than the run: far below the limit, this
 * process adds what it has admitted to its last count. Near the limit every run is counted, one after the other
 * (docs/decisions/0009-open-executions.md).
 */
export function admission(
  { executions, system }: { executions: Pick<ExecutionStore, 'countOpen'>; system: System },
  max: number,
): Admit {
  const counts = new LRUCache<string, Count>({ max: MAX_ORGANIZATIONS })
  const pending = new Map<string, Promise<unknown>>()

  const isValid = (count: Count | undefined): count is Count =>
    count !== undefined &&
    system.now() - count.countedAt < COUNT_TTL_MS &&
    count.admitted < Math.floor((max - count.open) * SHARE)

  const isRejected = (count: Count | undefined) =>
    count !== undefined && count.open >= max && system.now() - count.countedAt < REJECTION_TTL_MS

  async function countAndRecord<T>(organizationId: string, record: () => Promise<T>): Promise<T> {
    const open = await executions.countOpen({ organizationId, max })
    const isAdmitted = open < max
    counts.set(organizationId, {
      open: isAdmitted ? open + 1 : open,
      countedAt: system.now(),
      admitted: 0,
    })
    if (!isAdmitted) throw new TooManyRequests(max)
    return record()
  }

  return async (organizationId, record) => {
    for (;;) {
      const count = counts.get(organizationId)
      if (isValid(count)) {
        count.admitted++
        return record()
      }
      if (isRejected(count)) throw new TooManyRequests(max)
      const other = pending.get(organizationId)
      if (!other) break
      await other
    }
    const own = countAndRecord(organizationId, record)
    const settled = own.catch(() => undefined).finally(() => pending.delete(organizationId))
    pending.set(organizationId, settled)
    return own
  }
}
