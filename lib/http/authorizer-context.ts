import { type Access, isScope, MAX_EXPIRES_AT, type RefusedAccess } from '../core/access.ts'
import { isUuid } from '../core/ids.ts'
import { Unauthorized } from '../core/request-errors.ts'

/** What the authorizer passes to the functions. API Gateway delivers every value as text. */
export type AuthorizerContext = Record<string, string>

/** Values that are absent restrict nothing. The names of a token and of a tenant can contain any characters. */
export function toAuthorizerContext(access: Access | RefusedAccess): AuthorizerContext {
  if ('forbidden' in access) {
    const { tokenId, expiresAt, forbidden, lacksScope } = access
    return {
      tokenId,
      forbidden: encodeURIComponent(forbidden.toWellFormed()),
      ...(lacksScope && { lacksScope: 'true' }),
      ...(expiresAt !== undefined && { expiresAt: String(expiresAt) }),
    }
  }
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

/** @throws Unauthorized for any other context than one of `toAuthorizerContext` */
export function fromAuthorizerContext(context: Record<string, unknown>): Access | RefusedAccess {
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
    forbidden,
    lacksScope,
  } = context
  const isValid =
    [tokenId, tokenName, subject, scopes, agents, tenantId, forbidden].every(isOptionalText) &&
    isOptionalNumber(rate, 9_999) &&
    isOptionalNumber(expiresAt, MAX_EXPIRES_AT)
  if (!isValid) throw new Unauthorized()
  if (forbidden !== undefined)
    return {
      tokenId: String(tokenId),
      forbidden: decodeURIComponent(String(forbidden)),
      ...(lacksScope === 'true' && { lacksScope: true }),
      ...(expiresAt !== undefined && { expiresAt: Number(expiresAt) }),
    }
  if (typeof organizationId !== 'string' || !isUuid(organizationId)) throw new Unauthorized()
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

const isOptionalNumber = (value: unknown, max: number) =>
  value === undefined || (/^[1-9][0-9]*$/.test(String(value)) && Number(value) <= max)

const parseList = (text: unknown): string[] | null => (text === undefined ? null : String(text).split(','))
