import { LRUCache } from 'lru-cache'
import { TooManyRequests } from '../../core/errors.ts'
import type { ExecutionStore, System } from '../../core/ports.ts'

/** Records one more execution of an organization. @throws TooManyRequests at the limit of open executions */
export type Admit = <T>(organizationId: string, record: () => Promise<T>) => Promise<T>

type Count = {
  open: number
  countedAt: number
  /** Executions recorded by this process since then. */
  admitted: number
  /** Executions that this process may record, and how long, before it counts again. */
  budget: number
  ttlMs: number
  /** Time between two executions of this process before this count; 0 if unknown. */
  intervalMs: number
  /** Executions that this process may record at once, when they come faster than before. */
  burst: number
  lastAt: number
  /** The budget that steady counts have led to. */
  steadyBudget: number
  /** When the budget changed. Before the index can show an effect, it stays. */
  budgetSince: number
}

const MAX_ORGANIZATIONS = 10_000

/** Processes that accept runs of an organization at the same time, unless fewer are known. */
const DEFAULT_PROCESSES = 200

/**
 * Shares of the limit that all processes together record between two counts: after the first count, and while the
 * counts are steady. One process never records more than the half that was free.
 */
const FIRST_BUDGET = 1 / 2
const MAX_BUDGET = 4

/** Counts are steady while they grow by less than this share of the limit: an estimate of one shard varies by it. */
const STEADY_GROWTH = 1 / 5
/** A process that records executions this many times as fast as before counts again. */
const MAX_SPEEDUP = 8

/**
 * Above this share of the limit, more growth than this within this time shows how fast other processes start
 * executions: from an estimate, and from a count above that share.
 */
const RUSH_FROM = 41 / 50
const RUSH_GROWTH = { estimated: 1 / 5, counted: 1 / 20 } as const
const RUSH_MS = 500
/** From a count of another process until the index shows the executions that it allowed. */
const IN_FLIGHT_MS = 30

const FIRST_TTL_MS = 10_000
const MAX_TTL_MS = 5 * 60_000

/** An organization at its limit is rejected for this long without another count. */
const REJECTION_TTL_MS = 100

/**
 * The limit on an organization's open executions. They are counted in the index that contains exactly these, so that no
 * crash can make the count wrong. Counting for every run would cost more than the run: below half of the limit, a
 * process counts once in several runs, less often the steadier the counts are. Above, it counts for every run, one
 * after the other (docs/decisions/0009-open-executions.md).
 * @param processes that accept runs of the organization
 */
export function admission(
  { executions, system }: { executions: Pick<ExecutionStore, 'countOpen'>; system: System },
  max: number,
  processes = DEFAULT_PROCESSES,
): Admit {
  const counts = new LRUCache<string, Count>({ max: MAX_ORGANIZATIONS })
  const pending = new Map<string, Promise<unknown>>()
  const recording = new Map<string, Set<Promise<unknown>>>()
  const firstBudget = Math.floor((max * FIRST_BUDGET) / processes)
  const maxBudget = Math.min((max * MAX_BUDGET) / processes, max / 2)

  const isValid = (count: Count | undefined): count is Count => {
    if (!count || count.admitted >= count.budget) return false
    return system.now() - count.countedAt < count.ttlMs && burstOf(count) >= 1
  }

  const isSteady = (count: Count | undefined): boolean =>
    count !== undefined && count.steadyBudget > firstBudget

  /** A token bucket that refills at `MAX_SPEEDUP` times the rate at which this process used to record executions. */
  function burstOf({ burst, lastAt, intervalMs }: Count): number {
    if (intervalMs === 0) return firstBudget
    const refilled = burst + ((system.now() - lastAt) * MAX_SPEEDUP) / intervalMs
    return Math.min(refilled, Math.max(firstBudget, IN_FLIGHT_MS / intervalMs))
  }

  const isRejected = (count: Count | undefined) =>
    count !== undefined && count.open >= max && system.now() - count.countedAt < REJECTION_TTL_MS

  /** Estimates the executions of other processes that the index lacks, at their rate since the last count. */
  function notCounted(open: number, last: Count | undefined): number {
    if (processes === 1 || !last || open < max * RUSH_FROM) return 0
    const growth = open - last.open
    const ageMs = system.now() - last.countedAt
    const { estimated, counted } = RUSH_GROWTH
    const minGrowth = max * (last.open < max * RUSH_FROM ? estimated : counted)
    const isRush = ageMs < RUSH_MS && growth > minGrowth
    return isRush ? Math.round((growth * IN_FLIGHT_MS) / Math.max(ageMs, IN_FLIGHT_MS / 2)) : 0
  }

  function toCount(open: number, last: Count | undefined): Count {
    const countedAt = system.now()
    const intervalMs = last ? (countedAt - last.countedAt) / (last.admitted + 1) : 0
    const times = { countedAt, lastAt: countedAt, budgetSince: countedAt, intervalMs, ttlMs: FIRST_TTL_MS }
    const first = { ...times, open: open + 1, admitted: 0, burst: firstBudget, steadyBudget: firstBudget }
    if (open >= max / 2) return { ...first, open: Math.min(open + 1, max), budget: 0 }
    if (!last) return { ...first, budget: firstBudget }
    const growth = open - last.open
    if (growth > max * STEADY_GROWTH) {
      const untilFull = ((max - open) / growth) * (last.admitted + 1)
      return { ...first, budget: Math.floor(untilFull / 3) }
    }
    if (countedAt - last.budgetSince < IN_FLIGHT_MS) {
      const { budgetSince, steadyBudget, ttlMs } = last
      const budget = isSteady(last) ? steadyBudget : 0
      return { ...first, budgetSince, steadyBudget, ttlMs, budget }
    }
    const budget = Math.floor(Math.min(Math.max(last.steadyBudget, firstBudget) * 4, maxBudget))
    const ttlMs = Math.min(Math.max(last.ttlMs * 2, FIRST_TTL_MS), MAX_TTL_MS)
    return { ...first, steadyBudget: budget, budget, ttlMs }
  }

  /** Those that are being recorded may or may not be in the index: above half of the limit, they are awaited. */
  async function countOpen(organizationId: string): Promise<number> {
    const unsettled = [...(recording.get(organizationId) ?? [])]
    const counted = await executions.countOpen({ organizationId, max })
    if (unsettled.length === 0 || counted + unsettled.length < max / 2) return counted + unsettled.length
    await Promise.allSettled(unsettled)
    return executions.countOpen({ organizationId, max })
  }

  function recorded<T>(organizationId: string, record: () => Promise<T>): Promise<T> {
    const promise = record()
    const others = recording.get(organizationId) ?? new Set()
    recording.set(organizationId, others.add(promise))
    const forget = () => others.delete(promise) && others.size === 0 && recording.delete(organizationId)
    promise.then(forget, forget)
    return promise
  }

  /** @throws TooManyRequests */
  async function countFor(organizationId: string): Promise<void> {
    const last = counts.get(organizationId)
    // What is recorded from now on would be missing in the new count.
    if (last) last.budget = 0
    const counted = await countOpen(organizationId)
    const open = counted + notCounted(counted, last)
    counts.set(organizationId, toCount(open, last))
    if (open >= max) throw new TooManyRequests(max)
  }

  return async (organizationId, record) => {
    for (;;) {
      const count = counts.get(organizationId)
      if (isValid(count)) {
        count.burst = burstOf(count) - 1
        count.lastAt = system.now()
        count.admitted++
        return recorded(organizationId, record)
      }
      if (isRejected(count)) throw new TooManyRequests(max)
      const other = pending.get(organizationId)
      if (!other) break
      await other
    }
    const counting = countFor(organizationId)
    const own = counting.then(() => recorded(organizationId, record))
    // Until counts are steady, the next one has to include this run.
    const settled = counting
      .then(() => (isSteady(counts.get(organizationId)) ? undefined : own))
      .catch(() => undefined)
      .finally(() => pending.delete(organizationId))
    pending.set(organizationId, settled)
    return own
  }
}
