export const LIMITED = ['tenant', 'agent'] as const
/** Whose executions are limited: those of a tenant, or of an agent. `id`: the tenant's, or the agent's UUID. */
export type LimitSubject = { kind: (typeof LIMITED)[number]; id: string }

/** Whose spending is counted: also that of a trial, which has a limit of its own. */
export type SpendingSubject = LimitSubject | { kind: 'trial'; id: string }

/** As records and errors name it. */
export const ownerOf = ({ kind, id }: LimitSubject): { tenantId: string } | { agentId: string } =>
  kind === 'tenant' ? { tenantId: id } : { agentId: id }

/** In lists: agents by ID, then tenants by ID. */
export const orderOf = ({ kind, id }: LimitSubject): string => `${kind}#${id}`

/** What a client sets. Null: no limit. */
export type UsageLimits = {
  /** Executions that are in progress; suspended ones do not count. */
  maxOpenExecutions: number | null
  /** Runs that are accepted in a minute of the clock. */
  maxRunsPerMinute: number | null
  /** In US dollars, per calendar day and month in UTC. */
  maxCostUsd: { day: number | null; month: number | null }
  /** The share of a cost limit at which `limit.warning` is sent. */
  warnAt: number | null
  /** Asynchronous runs above `maxOpenExecutions` wait for their turn instead of being refused. */
  queueWhenFull: boolean
}

export const NO_LIMITS: UsageLimits = {
  maxOpenExecutions: null,
  maxRunsPerMinute: null,
  maxCostUsd: { day: null, month: null },
  warnAt: null,
  queueWhenFull: false,
}

/**
 * `updatedAt`: ISO 8601. `spentBefore`: what was spent in the day and the month of `at` (milliseconds since the epoch)
 * before there was a cost limit; absent without one, and if an earlier release has set it.
 */
export type StoredLimits = UsageLimits & { updatedAt: string; spentBefore?: Spent & { at: number } }

export type CostPeriod = 'day' | 'month'

export type LimitName = 'maxOpenExecutions' | 'maxRunsPerMinute' | `maxCostUsd.${CostPeriod}`

/** A limit that permits no more. */
export type ReachedLimit = { subject: LimitSubject; limit: LimitName; max: number }

/** What was spent in the current day and month, in US dollars. */
export type Spent = Record<CostPeriod, number>

/** What was read of a subject: `spent` in the periods of this time (milliseconds since the epoch). */
export type Spending = {
  organizationId: string
  subject: LimitSubject
  limits: Pick<UsageLimits, 'maxCostUsd' | 'warnAt'>
  spent: Spent
  at: number
}

/** A cost limit of a subject is about to be used up. */
export type LimitWarning = {
  /** A UUID that derives from the others: there is one for each subject, period and value of the limit. */
  id: string
  organizationId: string
  subject: LimitSubject
  period: CostPeriod
  limitUsd: number
  /** What was spent when the warning was written. */
  spentUsd: number
  warnAt: number
  /** ISO 8601 */
  at: string
}

/** The day and the month of a time, in UTC: 2026-11-25 and 2026-11. */
export function periodsOf(at: number): Record<CostPeriod, string> {
  const iso = new Date(at).toISOString()
  return { day: iso.slice(0, 10), month: iso.slice(0, 7) }
}

/** When the period that contains this time begins, in milliseconds since the epoch. */
export function beginningOf(period: CostPeriod, at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), period === 'day' ? date.getUTCDate() : 1)
}

/** The spending in the periods of a time: what was counted, and what was spent before in the same period. */
export function withSpentBefore(
  counted: Spent,
  { spentBefore }: Pick<StoredLimits, 'spentBefore'>,
  at: number,
): Spent {
  if (!spentBefore) return counted
  const [read, now] = [periodsOf(spentBefore.at), periodsOf(at)]
  const sum = (period: CostPeriod) =>
    counted[period] + (read[period] === now[period] ? spentBefore[period] : 0)
  return { day: sum('day'), month: sum('month') }
}

/** From when on everything that is spent counts, in ISO 8601; null without a cost limit. */
export function countedFromOf({ maxCostUsd, spentBefore, updatedAt }: StoredLimits): string | null {
  if (maxCostUsd.day === null && maxCostUsd.month === null) return null
  return spentBefore ? new Date(beginningOf('month', spentBefore.at)).toISOString() : updatedAt
}

/** When the period that contains this time ends, in milliseconds since the epoch. */
export function endOfPeriod(period: CostPeriod, at: number): number {
  const date = new Date(at)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  return period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)
}

/** A tenant or an agent that has limits. */
export type Limited = { subject: LimitSubject; limits: StoredLimits }

export const hasCostLimit = ({ limits: { maxCostUsd } }: Limited): boolean =>
  maxCostUsd.day !== null || maxCostUsd.month !== null

type UsedUp = ReachedLimit & { period: CostPeriod }

/** The cost limit of a subject that is used up, the one that ends later if both are; null if there is none. */
export function findUsedUp({ subject, limits: { maxCostUsd } }: Limited, spent: Spent): UsedUp | null {
  for (const period of ['month', 'day'] as const) {
    const max = maxCostUsd[period]
    if (max !== null && spent[period] >= max) return { subject, limit: `maxCostUsd.${period}`, max, period }
  }
  return null
}

/** A sentence that says which limit of whom is reached. */
export function describeReached({ subject: { kind, id }, limit, max }: ReachedLimit): string {
  const owner = `The ${kind} ${id}`
  switch (limit) {
    case 'maxOpenExecutions':
      return `${owner} has as many executions in progress as it may have: ${max} (maxOpenExecutions).`
    case 'maxRunsPerMinute':
      return `${owner} has started as many runs in this minute as it may: ${max} (maxRunsPerMinute).`
    default:
      return `${owner} has used up its limit of ${max} US dollars per ${limit.slice('maxCostUsd.'.length)} (${limit}).`
  }
}

/** What is used of limits. `openExecutions`: those that are counted by a limit. */
export type LimitsUse = { spentUsd: Spent; openExecutions: number }

/** Null: no limit. */
export type LimitsLeft = { openExecutions: number | null; costUsd: Record<CostPeriod, number | null> }

export function leftOf(
  { maxOpenExecutions, maxCostUsd }: UsageLimits,
  { spentUsd, openExecutions }: LimitsUse,
): LimitsLeft {
  // Of the difference of two costs, digits below a billionth of a dollar are errors of rounding.
  const left = (max: number | null, used: number) =>
    max === null ? null : Math.max(Math.round((max - used) * 1e9) / 1e9, 0)
  return {
    openExecutions: left(maxOpenExecutions, openExecutions),
    costUsd: { day: left(maxCostUsd.day, spentUsd.day), month: left(maxCostUsd.month, spentUsd.month) },
  }
}
