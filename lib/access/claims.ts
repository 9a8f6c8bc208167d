import { type Access, isScope, MAX_TOKEN_AGENTS, type Scope } from '../core/access.ts'
import { isJsonObject } from '../core/json/json.ts'
import { Forbidden } from '../core/request-errors.ts'
import { type ClaimMapping, type FromClaim, isAgent, toOrganization, toTenant } from './claim-mapping.ts'
import { isScopeClaim } from './protected-resource.ts'

export type MappedAccess = Pick<Access, 'organizationId' | 'tenantId' | 'scopes' | 'agents'>

/** The claims give no scope. A client may get one by asking the provider for more. */
export class ScopeMissing extends Forbidden {}

/**
 * What the claims of a verified token give. Errors name claims, never their values.
 * @throws Forbidden, ScopeMissing
 */
export function mapClaims(mapping: ClaimMapping, claims: Record<string, unknown>): MappedAccess {
  const { organization, tenant, scopes, agents } = mapping
  return {
    organizationId:
      typeof organization === 'string'
        ? organization
        : findOne(organization, claims, 'organization', toOrganization),
    tenantId:
      tenant && !(tenant.optional && findClaim(claims, tenant.claim) === undefined)
        ? findOne(tenant, claims, 'tenant', toTenant)
        : null,
    scopes: Array.isArray(scopes) ? scopes : findScopes(scopes, claims),
    agents: agents && (Array.isArray(agents) ? agents : findAgents(agents, claims)),
  }
}

/**
 * Own members only: a claim can have any name.
 * @returns undefined if a member is missing
 * @throws Forbidden if what should have the member is no object
 */
function findClaim(claims: unknown, path: string[]): unknown {
  let value = claims
  for (const [index, name] of path.entries()) {
    if (!isJsonObject(value))
      throw new Forbidden(
        `The claim ${show(path.slice(0, index))} is not an object, so it cannot contain ${show(path)}.`,
      )
    if (!Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** @param gives what the claim gives, a noun without article */
function readTexts({ claim }: FromClaim<unknown>, claims: Record<string, unknown>, gives: string): string[] {
  const value = findClaim(claims, claim)
  if (value === undefined)
    throw new Forbidden(`The token has no claim ${show(claim)}, which gives its ${gives}.`)
  if (typeof value === 'string')
    return isScopeClaim(claim) ? value.split(' ').filter((word) => word !== '') : [value]
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
  throw new Forbidden(
    `The claim ${show(claim)}, which gives its ${gives}, is neither a text nor a list of texts.`,
  )
}

const show = (claim: string[]) => JSON.stringify(claim.join('.'))

const unmapped = (claim: string[], gives: string) =>
  new Forbidden(`The claim ${show(claim)} gives the token no ${gives}: none of its values is mapped to one.`)

function findOne(
  from: FromClaim<string>,
  claims: Record<string, unknown>,
  gives: string,
  toValue: (text: unknown) => string | undefined,
): string {
  const texts = readTexts(from, claims, gives)
  const found = texts.map((text) => (from.values ? from.values.get(text) : toValue(text)))
  const [only, ...others] = new Set(found.filter((each) => each !== undefined))
  if (only === undefined) throw unmapped(from.claim, gives)
  if (others.length > 0)
    throw new Forbidden(
      `The claim ${show(from.claim)} gives the token several ${gives}s: it can have only one.`,
    )
  return only
}

function findSome<T extends string>(
  from: FromClaim<T[]>,
  claims: Record<string, unknown>,
  gives: string,
  isOne: (text: string) => text is T,
): T[] {
  const texts = readTexts(from, claims, gives)
  const found = texts.flatMap((text) =>
    from.values ? (from.values.get(text) ?? []) : isOne(text) ? [text] : [],
  )
  if (found.length === 0) throw unmapped(from.claim, gives)
  return [...new Set(found)]
}

function findScopes(from: FromClaim<Scope[]>, claims: Record<string, unknown>): Scope[] {
  try {
    return findSome(from, claims, 'scope', isScope)
  } catch (error) {
    throw error instanceof Forbidden ? new ScopeMissing(error.message) : error
  }
}

function findAgents(from: FromClaim<string[]>, claims: Record<string, unknown>): string[] {
  const agents = findSome(from, claims, 'agent', isAgent)
  if (agents.length <= MAX_TOKEN_AGENTS) return agents
  throw new Forbidden(`The claim ${show(from.claim)} gives the token more than ${MAX_TOKEN_AGENTS} agents.`)
}
