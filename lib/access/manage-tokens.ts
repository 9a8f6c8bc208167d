import { type Access, DEFAULT_SCOPES, TOKEN_LIFETIME_DAYS, type TokenLimits } from '../core/access.ts'
import type { Token } from '../core/agent.ts'
import { BY_ID, type PageQuery, parsePage, withoutOthers } from '../core/cursor.ts'
import { ServiceError, type Violation } from '../core/errors.ts'
import { agentIdFrom, isUuid, timeOfId } from '../core/ids.ts'
import { DAY_MS, PAGE_SIZE } from '../core/limits.ts'
import type { TokenStore } from '../core/ports/access.ts'
import type { Page, System } from '../core/ports/system.ts'
import { InputSchemaMismatch } from '../core/request-errors.ts'
import { TokenNotFound } from '../core/resource-errors.ts'
import { hasScope, visibilityOf } from './permissions.ts'
import { newToken } from './tokens.ts'

type Stores = { tokens: TokenStore; system: System }

/** Clients compute `expiresAt` with clocks of their own. */
const CLOCK_TOLERANCE_MS = 5 * 60 * 1000

/** Pages of the list that one request looks at for the tokens that a limited one may see. */
const MAX_PAGES = 20

/** Of the agents, the tenant and the rate, what is absent is as for the token that creates it. */
export type GivenToken = { name: string; expiresAt?: string | null | undefined } & {
  [Name in keyof TokenLimits]?: TokenLimits[Name] | undefined
}

/** The tokens that may use nothing beyond the tenant and the agents of the caller. @throws InvalidCursor */
export async function listTokens(
  { tokens }: Pick<Stores, 'tokens'>,
  { access, query }: { access: Access; query: PageQuery },
): Promise<Page<Token>> {
  const { limit, after } = parsePage(query, BY_ID)
  const { organizationId, agents, tenantId } = access
  if (agents === null && tenantId === null) return tokens.list({ organizationId, limit, after })
  const items: Token[] = []
  let position = after
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await tokens.list({ organizationId, limit: PAGE_SIZE.max, after: position })
    for (const token of page.items.filter((each) => isVisible(access, each))) {
      if (items.length === limit) return { items, next: { order: items.at(-1)?.id ?? '' } }
      items.push(token)
    }
    position = page.next
    if (position === null) break
  }
  return { items, next: position && withoutOthers(position, items) }
}

/**
 * Creates a token that may do nothing that the caller may not do. `text` is shown once.
 * @throws ServiceError `Forbidden` that says which of the members would be more
 * @throws InputSchemaMismatch if it would have ended, or would be valid for too long
 */
export async function createToken(
  { tokens, system }: Stores,
  { access, given }: { access: Access; given: GivenToken },
): Promise<{ token: Token; text: string }> {
  const { organizationId } = access
  const limits: TokenLimits = {
    scopes: given.scopes === undefined ? DEFAULT_SCOPES : given.scopes,
    agents: given.agents === undefined ? access.agents : withoutRepetitions(organizationId, given.agents),
    tenantId: given.tenantId === undefined ? access.tenantId : given.tenantId,
    rate: given.rate === undefined ? access.rate : given.rate,
  }
  const now = system.now()
  const maxMs = maxLifetimeOf(access)
  const askedMs = toLifetime(given.expiresAt, { now, maxMs })
  assertHeld(access, { ...limits, lifetimeMs: askedMs }, { now, maxMs })
  const lifetimeMs = askedMs === null ? null : Math.min(assertLifetime(askedMs), maxMs ?? askedMs)
  const created = newToken({
    system: { ...system, now: () => now },
    organizationId,
    name: given.name,
    createdBy: access.tokenId,
    ...(access.subject !== undefined && { isOfPerson: true }),
    lifetimeMs,
    ...limits,
  })
  await tokens.create(created)
  return created
}

/**
 * Revokes a token, or lets it end after a time, unless it ends before.
 * @throws TokenNotFound also for one that the caller may not see
 */
export async function revokeToken(
  { tokens, system }: Pick<Stores, 'tokens'> & { system: Pick<System, 'now'> },
  { access, tokenId, afterSeconds }: { access: Access; tokenId: string; afterSeconds?: number | undefined },
): Promise<Token> {
  const found = isUuid(tokenId) ? await tokens.get({ id: tokenId.toLowerCase() }) : null
  if (!found || !isVisible(access, found)) throw new TokenNotFound()
  const { hash } = found
  const at = new Date(system.now() + (afterSeconds ?? 0) * 1_000).toISOString()
  const ended =
    afterSeconds === undefined
      ? await tokens.revoke({ hash, revokedAt: at })
      : await tokens.expire({ hash, expiresAt: at })
  if (!ended) throw new TokenNotFound()
  return ended
}

function isVisible(access: Access, token: Token): boolean {
  if (token.organizationId !== access.organizationId) return false
  return (access.tenantId === null || token.tenantId === access.tenantId) && hasAgents(access, token.agents)
}

/** Whether a token may use all of these agents, given as IDs or slugs. */
function hasAgents(access: Access, agents: string[] | null): boolean {
  const { organizationId, agentIds } = visibilityOf(access)
  if (agentIds === null) return true
  return agents?.every((agent) => agentIds.includes(agentIdFrom(organizationId, agent) ?? '')) ?? false
}

/** A slug and an ID may be those of one agent. */
function withoutRepetitions(organizationId: string, agents: string[] | null): string[] | null {
  const idOf = (agent: string) => agentIdFrom(organizationId, agent)
  return (
    agents?.filter((agent, index, all) => all.findIndex((each) => idOf(each) === idOf(agent)) === index) ??
    null
  )
}

/** Of a caller: when, and how long a token may live that it creates, null for as long as it likes. */
type Lifetimes = { now: number; maxMs: number | null }

/** Nobody grants more than they hold. @throws ServiceError `Forbidden` */
function assertHeld(
  access: Access,
  { scopes, agents, tenantId, rate, lifetimeMs }: TokenLimits & { lifetimeMs: number | null },
  { now, maxMs }: Lifetimes,
): void {
  const errors: Violation[] = []
  const refuse = (name: string, allowed: string) =>
    errors.push({ path: `/${name}`, message: `/${name} must be ${allowed}.` })
  if (access.scopes !== null && !(scopes?.every((scope) => hasScope(access, scope)) ?? false))
    refuse('scopes', `some of the scopes of your token: ${access.scopes.join(', ')}`)
  if (!hasAgents(access, agents))
    refuse('agents', `some of the agents of your token: ${access.agents?.join(', ')}`)
  if (access.tenantId !== null && tenantId !== access.tenantId)
    refuse('tenantId', 'the tenant of your token, or absent')
  if (access.rate !== null && (rate === null || rate > access.rate))
    refuse('rate', `an integer from 1 to ${access.rate}, the rate of your token`)
  if (maxMs !== null && (lifetimeMs === null || lifetimeMs > maxMs + CLOCK_TOLERANCE_MS)) {
    const reason =
      access.subject === undefined
        ? 'it may live as long as your token, from its creation to its end'
        : `tokens that people create live for ${TOKEN_LIFETIME_DAYS.maxOfPerson} days at most`
    refuse('expiresAt', `at most ${new Date(now + maxMs).toISOString()}, because ${reason}`)
  }
  if (errors.length === 0) return
  const detail = `Your token cannot create one that may do more than itself. ${errors.map(({ message }) => message).join(' ')}`
  throw new ServiceError('Forbidden', detail, { errors })
}

/**
 * How long a token may live that the caller creates: null for as long as it likes. A token that expires passes on its
 * own lifetime, not what is left of it, so that it can be replaced.
 */
function maxLifetimeOf({ tokenId, subject, expiresAt }: Access): number | null {
  if (subject !== undefined) return TOKEN_LIFETIME_DAYS.maxOfPerson * DAY_MS
  return expiresAt === undefined ? null : expiresAt * 1_000 - timeOfId(tokenId)
}

/** What is asked for, from now; null: no end. If nothing is, the longest up to the default that the caller may give. */
function toLifetime(expiresAt: string | null | undefined, { now, maxMs }: Lifetimes): number | null {
  if (expiresAt === null) return null
  if (expiresAt !== undefined) return Date.parse(expiresAt) - now
  const defaultMs = TOKEN_LIFETIME_DAYS.default * DAY_MS
  return Math.min(defaultMs, maxMs ?? defaultMs)
}

/** @throws InputSchemaMismatch */
function assertLifetime(lifetimeMs: number): number {
  const { max } = TOKEN_LIFETIME_DAYS
  if (lifetimeMs > 0 && lifetimeMs <= max * DAY_MS) return lifetimeMs
  const message = `/expiresAt must be in the future, and at most ${max} days from now; null for a token that does not expire.`
  throw new InputSchemaMismatch([{ path: '/expiresAt', message }])
}
