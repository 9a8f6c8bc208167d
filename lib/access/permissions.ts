import type { Access, Scope, Visibility } from '../core/access.ts'
import { agentIdFrom } from '../core/ids.ts'
import { Forbidden, InsufficientScope } from '../core/request-errors.ts'

export function visibilityOf({ organizationId, agents, tenantId }: Access): Visibility {
  const agentIds = agents?.flatMap((agent) => agentIdFrom(organizationId, agent) ?? []) ?? null
  return { organizationId, agentIds, tenantId }
}

/** Whether a token may use an agent, given as ID or slug. */
export function mayUseAgent(access: Access, idOrSlug: string): boolean {
  const { organizationId, agentIds } = visibilityOf(access)
  if (agentIds === null) return true
  const id = agentIdFrom(organizationId, idOrSlug)
  return id !== undefined && agentIds.includes(id)
}

export const hasScope = ({ scopes }: Pick<Access, 'scopes'>, scope: Scope): boolean =>
  scopes === null || scopes.includes(scope)

/** Whether runs learn from the feedback that a token gives. */
export const mayTeach = (access: Pick<Access, 'scopes'>): boolean =>
  hasScope(access, 'review') || hasScope(access, 'manage')

/** @param needed one of them is enough @throws InsufficientScope */
export function assertScope(access: Pick<Access, 'scopes'>, ...needed: Scope[]): void {
  if (needed.some((scope) => hasScope(access, scope))) return
  const { scopes } = access
  throw new InsufficientScope(
    `This request needs a token with the scope ${needed.join(' or ')}. Yours has: ${scopes?.join(', ')}.`,
    needed.slice(0, 1),
  )
}

/**
 * The tenant of a request: the one that it names, or the one to which its token is bound.
 * @throws Forbidden if these differ
 */
export function resolveTenant(access: Pick<Access, 'tenantId'>, tenantId: string | undefined) {
  if (access.tenantId === null || tenantId === access.tenantId) return tenantId
  if (tenantId === undefined) return access.tenantId
  throw new Forbidden(
    'The token is bound to another tenant than tenantId. Leave tenantId out to use its own.',
  )
}

/**
 * An agent, its documents and its versions belong to all tenants of the organization.
 * @throws Forbidden for a token that is bound to one
 */
export function assertAllTenants({ tenantId }: Pick<Access, 'tenantId'>): void {
  if (tenantId === null) return
  throw new Forbidden('The token is bound to a tenant. What it requests belongs to all tenants.')
}

/**
 * What belongs to no agent belongs to all of them.
 * @throws Forbidden for a token that is limited to some
 */
export function assertAllAgents({ agents }: Pick<Access, 'agents'>): void {
  if (agents === null) return
  throw new Forbidden('The token is limited to agents. What it requests belongs to all agents.')
}

/** Tokens that are bound to a tenant share idempotency keys with tokens of this tenant only. */
export function idempotencyKeyOf({ tenantId }: Pick<Access, 'tenantId'>, key: string | undefined) {
  return key === undefined || tenantId === null ? key : `${tenantId}\n${key}`
}

/** @throws InsufficientScope */
export function assertMayRunDraft(access: Access): void {
  if (hasScope(access, 'manage')) return
  throw new InsufficientScope(
    `This version is a draft. Running it needs a token with the scope manage. Yours has: ${access.scopes?.join(', ')}.`,
    ['manage'],
  )
}
