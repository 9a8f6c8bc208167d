import type { TokenLimits } from '../../lib/core/access.ts'
import type { Token } from '../../lib/core/agent.ts'
import { relativeTime } from '../format.ts'

export const COLUMNS = ['TOKEN', 'NAME', 'STATUS', 'CREATED', 'LAST USED', 'STARTS WITH', 'SCOPES', 'LIMITS']

export const toRow = (token: Token): string[] => [
  token.id,
  token.name,
  describeStatus(token),
  relativeTime(token.createdAt),
  token.lastUsedAt ? toHour(token.lastUsedAt) : 'never',
  token.prefix ? `${token.prefix}…` : '-',
  describeScopes(token),
  describeLimits(token),
]

/** `2026-11-22 14:00 UTC`: no more is known of a last use. */
const toHour = (timestamp: string) => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`

export const describeScopes = ({ scopes }: TokenLimits): string => scopes?.join(', ') ?? 'all'

export function describeLimits({ agents, tenantId, rate }: TokenLimits): string {
  const limits = [
    agents && `agents ${agents.join(', ')}`,
    tenantId !== null && `tenant ${tenantId}`,
    rate !== null && `${rate}/s`,
  ]
  return limits.filter(Boolean).join('; ') || 'none'
}

function describeStatus({ revokedAt, expiresAt }: Token): string {
  if (revokedAt) return `revoked ${relativeTime(revokedAt)}`
  if (!expiresAt) return 'valid'
  return Date.parse(expiresAt) <= Date.now()
    ? `expired ${relativeTime(expiresAt)}`
    : `valid, expires ${relativeTime(expiresAt)}`
}
