import { LRUCache } from 'lru-cache'
import { LimitExceeded } from '../core/limit-errors.ts'
import type { SlotQueue } from '../core/ports/queues.ts'
import type { System } from '../core/ports/system.ts'
import type { LimitStore, SubjectKey } from '../core/ports/usage.ts'
import { INTERVAL_MS } from '../core/usage.ts'
import {
  endOfPeriod,
  findUsedUp,
  hasCostLimit,
  type Limited,
  type LimitSubject,
  orderOf,
  type Spending,
  type Spent,
  type StoredLimits,
  withSpentBefore,
} from '../core/usage-limits.ts'

/** How long a process may not know that an organization has its first limits. */
const FLAG_TTL_MS = 30_000
const MAX_ORGANIZATIONS = 10_000
/** How long it may apply limits as they were. */
const LIMITS_TTL_MS = 10_000
const MAX_SUBJECTS = 10_000

/** `Retry-After` at the limit of open executions, in seconds. */
const OPEN_RETRY_SECONDS = 5

type Reading = SubjectKey & { store: Pick<LimitStore, 'hasAny' | 'get'> }

const flags = new LRUCache<string, boolean, Pick<Reading, 'store' | 'organizationId'>>({
  max: MAX_ORGANIZATIONS,
  ttl: FLAG_TTL_MS,
  // Otherwise a change of limits fails the runs that wait for these to be read.
  ignoreFetchAbort: true,
  fetchMethod: (_id, _stale, { context: { store, organizationId } }) => store.hasAny({ organizationId }),
})

const known = new LRUCache<string, { limits: StoredLimits | null }, Reading>({
  max: MAX_SUBJECTS,
  ttl: LIMITS_TTL_MS,
  ignoreFetchAbort: true,
  fetchMethod: async (_id, _stale, { context: { store, ...key } }) => ({ limits: await store.get(key) }),
})

const idOf = (organizationId: string, subject: LimitSubject): string =>
  `${organizationId}#${orderOf(subject)}`

/** To be called when this process changes limits, so that its runs see it at once. */
export function forgetLimits(organizationId: string, subject: LimitSubject): void {
  flags.delete(organizationId)
  known.delete(idOf(organizationId, subject))
}

type Owners = { organizationId: string; tenantId: string | null; agentId: string }

/**
 * What limits the runs of an agent for a tenant. An organization without any limits costs one read in 30 s.
 * @throws Unavailable
 */
export async function limitsOf(store: Reading['store'], owners: Owners): Promise<Limited[]> {
  const { organizationId, tenantId, agentId } = owners
  if (!(await flags.fetch(organizationId, { context: { store, organizationId } }))) return []
  const subjects: LimitSubject[] = [
    ...(tenantId === null ? [] : [{ kind: 'tenant' as const, id: tenantId }]),
    { kind: 'agent', id: agentId },
  ]
  const read = await Promise.all(
    subjects.map(async (subject) => {
      const context = { store, organizationId, subject }
      return { subject, limits: (await known.fetch(idOf(organizationId, subject), { context }))?.limits }
    }),
  )
  return read.filter((each): each is Limited => !!each.limits)
}

/** What a subject has spent in the periods of this time, in milliseconds since the epoch. @throws Unavailable */
export const readSpent = async (
  store: Pick<LimitStore, 'getSpent'>,
  { limits, ...key }: SubjectKey & { limits: StoredLimits; at: number },
): Promise<Spent> => withSpentBefore(await store.getSpent(key), limits, key.at)

export type LimitStores = LimitStore & SlotQueue

type Run = Owners & {
  id: string
  /** Nobody waits for its output: it can wait for its turn. */
  mayQueue: boolean
}

export type Admitted = {
  /** Whose open executions the run counts towards. */
  subjects: LimitSubject[]
  /** Why it has to wait for its turn; null if it has not. */
  full: LimitExceeded | null
  /** This process has not recorded the run. Slots that another process has taken, or needs for its record, stay. */
  withdraw(): Promise<void>
}

type Context = Pick<System, 'now'> & {
  /** Whether another process has recorded the run, and it is in progress. */
  isRecorded: () => Promise<boolean>
  /** Gives free slots to those that wait for one. Never throws. */
  startQueued: (slot: SubjectKey) => Promise<void>
  /** Never throws. */
  warnAtLimit?: ((spending: Spending) => Promise<void>) | undefined
}

/**
 * Counts a run that is about to be recorded towards all limits of its tenant and its agent. Null if there are none.
 * @throws LimitExceeded, Unavailable
 */
export async function admitLimited(
  store: LimitStores,
  run: Run,
  { now, isRecorded, startQueued, warnAtLimit }: Context,
): Promise<Admitted | null> {
  const limited = await limitsOf(store, run)
  if (limited.length === 0) return null
  const { organizationId, id: executionId } = run
  const counted: (() => Promise<unknown>)[] = []
  const takenAt = now()
  const taken: LimitSubject[] = []
  const admitted: Admitted = {
    subjects: limited.flatMap(({ subject, limits }) => (limits.maxOpenExecutions === null ? [] : subject)),
    full: null,
    async withdraw() {
      const isKept = taken.length === 0 || (await isRecorded().catch(() => true))
      const releases = isKept
        ? []
        : taken.map((subject) => () => store.releaseSlot({ organizationId, subject, executionId, takenAt }))
      await Promise.all([...counted, ...releases].map((undo) => undo().catch(() => undefined)))
    },
  }
  const context = { store, organizationId, at: now(), warnAtLimit }
  await assertNotUsedUp(context, limited)
  try {
    for (const { subject, limits } of limited) {
      const { maxRunsPerMinute: max } = limits
      if (max === null) continue
      const minute = Math.floor(now() / INTERVAL_MS.minute)
      const key = { organizationId, subject, minute }
      if (!(await store.countRun({ ...key, max })))
        throw new LimitExceeded(
          { subject, limit: 'maxRunsPerMinute', max },
          secondsTo((minute + 1) * INTERVAL_MS.minute, now()),
        )
      counted.push(() => store.uncountRun(key))
    }
    for (const { subject, limits } of limited) {
      const { maxOpenExecutions: max, queueWhenFull } = limits
      // Its turn of one comes after that of the other.
      if (max === null || admitted.full) continue
      const slot = { organizationId, subject }
      const hasQueue = async () => (await store.listQueue({ ...slot, limit: 1 })).length > 0
      let isBehind = queueWhenFull && (await hasQueue())
      if (isBehind) {
        // Whoever should have started these may have died.
        await startQueued(slot)
        isBehind = await hasQueue()
      }
      // Before the response, which may be lost.
      taken.push(subject)
      if (!isBehind && (await store.takeSlot({ ...slot, max, executionId, now: takenAt }))) continue
      taken.pop()
      const full = new LimitExceeded({ subject, limit: 'maxOpenExecutions', max }, OPEN_RETRY_SECONDS)
      if (!queueWhenFull || !run.mayQueue) throw full
      admitted.full = full
    }
  } catch (error) {
    await admitted.withdraw()
    throw error
  }
  return admitted
}

type Check = Pick<Context, 'warnAtLimit'> & { store: LimitStores; organizationId: string; at: number }

/** @throws LimitExceeded */
async function assertNotUsedUp(check: Check, limited: Limited[]): Promise<void> {
  const found = await Promise.all(limited.map((each) => checkSpent(check, each)))
  const usedUp = found.filter((each) => each !== null)
  // The one that ends last: nothing is accepted before.
  const last = usedUp.find(({ period }) => period === 'month') ?? usedUp[0]
  if (last) throw new LimitExceeded(last, secondsTo(endOfPeriod(last.period, check.at), check.at))
}

/** The cost limit that is used up; null if there is none. */
async function checkSpent({ store, organizationId, at, warnAtLimit }: Check, limited: Limited) {
  if (!hasCostLimit(limited)) return null
  const { subject, limits } = limited
  const spent = await readSpent(store, { organizationId, subject, limits, at })
  const usedUp = findUsedUp(limited, spent)
  // It may have been used up before it was set: no further run will warn.
  if (usedUp && limits.warnAt !== null) await warnAtLimit?.({ organizationId, subject, limits, spent, at })
  return usedUp
}

const secondsTo = (time: number, now: number): number => Math.max(Math.ceil((time - now) / 1000), 1)
