import { assertAllAgents, visibilityOf } from '../access/permissions.ts'
import { type Access, isTenantId } from '../core/access.ts'
import { BY_SUBJECT, type PageQuery, parsePage } from '../core/cursor.ts'
import { ServiceError } from '../core/errors.ts'
import { roundDollars } from '../core/model-usage.ts'
import type { Page, System } from '../core/ports/system.ts'
import type { LimitStore, SubjectKey } from '../core/ports/usage.ts'
import { InvalidCursor } from '../core/request-errors.ts'
import { LimitsNotFound } from '../core/resource-errors.ts'
import {
  type CostPeriod,
  hasCostLimit,
  type LimitSubject,
  type LimitsUse,
  NO_LIMITS,
  orderOf,
  type Spent,
  type StoredLimits,
  type UsageLimits,
} from '../core/usage-limits.ts'
import { forgetLimits, readSpent } from './limits.ts'

type Stores = { limits: LimitStore; system: Pick<System, 'now'> }
type Reference = { access: Access; subject: LimitSubject }
type Given<T> = { [Name in keyof T]?: T[Name] | null | undefined }
/** What is absent or null is no limit. */
export type GivenLimits = Given<Omit<UsageLimits, 'maxCostUsd'>> & {
  maxCostUsd?: Given<UsageLimits['maxCostUsd']> | null | undefined
}

type Limits = StoredLimits & { subject: LimitSubject }

/**
 * Limits of the agents that a token may use, and of tenants unless it is limited to agents.
 * @throws InvalidCursor
 */
export async function listLimits(
  { limits }: Pick<Stores, 'limits'>,
  { access, query }: { access: Access; query: PageQuery & { kind?: LimitSubject['kind'] | undefined } },
): Promise<Page<Limits>> {
  const page = parsePage(query, BY_SUBJECT)
  const { organizationId, agentIds } = visibilityOf(access)
  const { kind = null } = query
  if (kind && page.after && !page.after.order.startsWith(`${kind}#`)) throw new InvalidCursor()
  if (agentIds === null) return limits.list({ organizationId, kind, ...page })
  if (kind === 'tenant') return { items: [], next: null }
  // A token names a few agents at most: one page.
  const found = await Promise.all(
    agentIds.map(async (id) => {
      const subject = { kind: 'agent' as const, id }
      const stored = await limits.get({ organizationId, subject })
      return stored && { ...stored, subject }
    }),
  )
  const all = found.filter((each) => each !== null).sort((a, b) => (a.subject.id < b.subject.id ? -1 : 1))
  const rest = all.filter(({ subject }) => page.after === null || orderOf(subject) > page.after.order)
  const items = rest.slice(0, page.limit)
  const last = items.at(-1)
  return { items, next: rest.length > items.length && last ? { order: orderOf(last.subject) } : null }
}

/** @throws LimitsNotFound, Forbidden */
export async function getLimits(
  { limits, system }: Stores,
  { access, subject }: Reference,
): Promise<Limits & { use: LimitsUse }> {
  const key = keyOf(access, subject)
  const stored = isPossible(subject) ? await limits.get(key) : null
  if (!stored) throw new LimitsNotFound()
  return { ...stored, subject, use: await readUse(limits, key, stored, system.now()) }
}

type CountingStores = Stores & {
  /** What the runs of the subject that have ended in the day and the month of now have cost. */
  readCost: (key: SubjectKey) => Promise<Spent>
}

/**
 * What was spent before there was a cost limit: nobody counted it. A limit that replaces another one goes on counting.
 */
async function findSpentBefore(
  { limits, system, readCost }: CountingStores,
  key: SubjectKey,
): Promise<StoredLimits['spentBefore']> {
  const last = await limits.get(key)
  if (last?.spentBefore && hasCostLimit({ subject: key.subject, limits: last })) return last.spentBefore
  const at = system.now()
  const [counted, all] = await Promise.all([limits.getSpent({ ...key, at }), readCost(key)])
  const rest = (period: CostPeriod) => Math.max(roundDollars(all[period] - counted[period]), 0)
  return { at, day: rest('day'), month: rest('month') }
}

/** @throws Forbidden, ServiceError `BadRequest` if it cannot be the ID of a tenant */
export async function putLimits(
  { limits, system, readCost }: CountingStores,
  { access, subject, given }: Reference & { given: GivenLimits },
): Promise<Limits> {
  if (!isPossible(subject))
    throw new ServiceError(
      'BadRequest',
      'The ID of a tenant must have 1 to 128 characters and no control characters.',
    )
  const { maxOpenExecutions, maxRunsPerMinute, maxCostUsd, warnAt, queueWhenFull } = given
  const key = keyOf(access, subject)
  const limited: StoredLimits = {
    maxOpenExecutions: maxOpenExecutions ?? NO_LIMITS.maxOpenExecutions,
    maxRunsPerMinute: maxRunsPerMinute ?? NO_LIMITS.maxRunsPerMinute,
    maxCostUsd: { day: maxCostUsd?.day ?? null, month: maxCostUsd?.month ?? null },
    warnAt: warnAt ?? NO_LIMITS.warnAt,
    queueWhenFull: queueWhenFull ?? NO_LIMITS.queueWhenFull,
    updatedAt: new Date(system.now()).toISOString(),
  }
  const spentBefore = hasCostLimit({ subject, limits: limited })
    ? await findSpentBefore({ limits, system, readCost }, key)
    : undefined
  const stored = { ...limited, ...(spentBefore && { spentBefore }) }
  await limits.put({ ...key, limits: stored })
  forgetLimits(access.organizationId, subject)
  return { ...stored, subject }
}

/** @throws LimitsNotFound, Forbidden */
export async function deleteLimits(
  { limits }: Pick<Stores, 'limits'>,
  { access, subject }: Reference,
): Promise<void> {
  const key = keyOf(access, subject)
  const isDeleted = isPossible(subject) && (await limits.delete(key))
  forgetLimits(access.organizationId, subject)
  if (!isDeleted) throw new LimitsNotFound()
}

/** Of the tenant to which a token is bound; null without any. */
export async function readOwnLimits(
  { limits, system }: Stores,
  { organizationId, tenantId }: Access,
): Promise<{ limits: StoredLimits; use: LimitsUse } | null> {
  if (tenantId === null) return null
  const key = { organizationId, subject: { kind: 'tenant' as const, id: tenantId } }
  const stored = await limits.get(key)
  return stored && { limits: stored, use: await readUse(limits, key, stored, system.now()) }
}

/** Paths can name anything as a tenant, also what no key of the table has room for. */
const isPossible = ({ kind, id }: LimitSubject): boolean => kind === 'agent' || isTenantId(id)

/** A tenant uses all agents. @throws Forbidden */
function keyOf(access: Access, subject: LimitSubject): SubjectKey {
  if (subject.kind === 'tenant') assertAllAgents(access)
  return { organizationId: access.organizationId, subject }
}

async function readUse(
  limits: LimitStore,
  key: SubjectKey,
  stored: StoredLimits,
  at: number,
): Promise<LimitsUse> {
  const [spentUsd, openExecutions] = await Promise.all([
    readSpent(limits, { ...key, limits: stored, at }),
    limits.countSlots(key),
  ])
  return { spentUsd, openExecutions }
}
