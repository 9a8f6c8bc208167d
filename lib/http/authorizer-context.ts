import { type Access, isScope, type RefusedAccess } from '../core/access.ts'
import { Forbidden, Unauthorized } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'

/** What the authorizer passes to the functions. API Gateway delivers every value as text. */
export type AuthorizerContext = Record<string, string>

/** Values that are absent restrict nothing. The names of a token and of a tenant can contain any characters. */
export function toAuthorizerContext(access: Access | RefusedAccess): AuthorizerContext {
  if ('forbidden' in access)
    return { tokenId: access.tokenId, forbidden: encodeURIComponent(access.forbidden.toWellFormed()) }
  const { organizationId, tokenId, tokenName, subject, expiresAt, scopes, agents, tenantId, rate } = access
  return {
    organizationId,
    tokenId,
    ...(tokenName !== undefined && { tokenName: encodeURIComponent(tokenName.toWellFormed()) }),
    ...(subject !== undefined && { subject: encodeURIComponent(subject.toWellFormed()) }),
    ...(expiresAt !== undefined && { expiresAt: String(expiresAt) }),
    ...(scopes && { scopes: scopes.join(',') }),
    ...(agents && { agents: agents.join(',') }),
    ...(tenantId !== null && { tenantId: encodeURIComponent(tenantId) }),
    ...(rate !== null && { rate: String(rate) }),
  }
}

/**
 * @throws Forbidden if the claims of a token give access to nothing
 * @throws Unauthorized for any other context than one of `toAuthorizerContext`
 */
export function fromAuthorizerContext(context: Record<string, unknown>): Access {
  if (typeof context.forbidden === 'string') throw new Forbidden(decodeURIComponent(context.forbidden))
  const {
    organizationId,
    tokenId = '',
    tokenName,
    subject,
    expiresAt,
    scopes,
    agents,
    tenantId,
    rate,
  } = context
  const isValid =
    context.forbidden === undefined &&
    [tokenId, tokenName, subject, scopes, agents, tenantId].every(isOptionalText) &&
    isOptionalNumber(rate, 4) &&
    isOptionalNumber(expiresAt, 12)
  if (!isValid || typeof organizationId !== 'string' || !isUuid(organizationId)) throw new Unauthorized()
  return {
    organizationId,
    tokenId: String(tokenId),
    ...(tokenName !== undefined && { tokenName: decodeURIComponent(String(tokenName)) }),
    ...(subject !== undefined && { subject: decodeURIComponent(String(subject)) }),
    ...(expiresAt !== undefined && { expiresAt: Number(expiresAt) }),
    scopes: parseList(scopes)?.filter(isScope) ?? null,
    agents: parseList(agents),
    tenantId: tenantId === undefined ? null : decodeURIComponent(String(tenantId)),
    rate: rate === undefined ? null : Number(rate),
  }
}

const isOptionalText = (value: unknown) => value === undefined || typeof value === 'string'

const isOptionalNumber = (value: unknown, maxDigits: number) =>
  value === undefined || (/^[1-9][0-9]*$/.test(String(value)) && String(value).length <= maxDigits)

const parseList = (text: unknown): string[] | null => (text === undefined ? null : String(text).split(','))
