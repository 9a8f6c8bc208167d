import { LRUCache } from 'lru-cache'
import { TooManyRequests } from '../../core/errors.ts'
import type { ExecutionStore, System } from '../../core/ports.ts'

/** Records one more execution of an organization. @throws TooManyRequests when it has as many open as it may */
export type Admit = <T>(organizationId: string, record: () => Promise<T>) => Promise<T>

/** `begun`: executions recorded here since `open` was counted. */
type Count = { open: number; countedAt: number; begun: number }

/** Organizations whose count one process remembers. */
const REMEMBERED = 10_000

/** A count stands for so long, and until this part of what it left of the cap has been used up here. */
const COUNT_LASTS_MS = 10_000
const PART = 1 / 20

/** For so long, an organization that was at its cap is refused without another count. */
const REFUSAL_LASTS_MS = 100

/**
 * The cap on an organization's open executions. What is open is counted in the index that holds just those, so that no
 * crash can leave the count wrong. To count for every run would cost more than the run: while the cap is far, what is
 * begun here since the last count is added to it. Near the cap each run is counted for, one after the other
 * (docs/decisions/0009-open-executions.md).
 */
export function admission(
  { executions, system }: { executions: Pick<ExecutionStore, 'countOpen'>; system: System },
  max: number,
): Admit {
  const counts = new LRUCache<string, Count>({ max: REMEMBERED })
  const turns = new Map<string, Promise<unknown>>()

  const stands = (count: Count | undefined): count is Count =>
    count !== undefined &&
    system.now() - count.countedAt < COUNT_LASTS_MS &&
    count.begun < Math.floor((max - count.open) * PART)

  const isRefused = (count: Count | undefined) =>
    count !== undefined && count.open >= max && system.now() - count.countedAt < REFUSAL_LASTS_MS

  async function countAndRecord<T>(organizationId: string, record: () => Promise<T>): Promise<T> {
    const open = await executions.countOpen({ organizationId, max })
    const isFree = open < max
    counts.set(organizationId, { open: isFree ? open + 1 : open, countedAt: system.now(), begun: 0 })
    if (!isFree) throw new TooManyRequests(max)
    return record()
  }

  return async (organizationId, record) => {
    for (;;) {
      const count = counts.get(organizationId)
      if (stands(count)) {
        count.begun++
        return record()
      }
      if (isRefused(count)) throw new TooManyRequests(max)
      const turn = turns.get(organizationId)
      if (!turn) break
      await turn
    }
    const own = countAndRecord(organizationId, record)
    const turn = own.catch(() => undefined).finally(() => turns.delete(organizationId))
    turns.set(organizationId, turn)
    return own
  }
}
