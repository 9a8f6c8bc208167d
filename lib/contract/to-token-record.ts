import { SCOPES } from '../core/access.ts'
import type { Token } from '../core/agent.ts'
import type { TokenRecord } from './records/token-record.ts'

/** Without the hash. */
export const toTokenRecord = (token: Token): TokenRecord => ({
  id: token.id,
  name: token.name,
  prefix: token.prefix,
  scopes: token.scopes ?? [...SCOPES],
  agents: token.agents,
  tenantId: token.tenantId,
  rate: token.rate,
  createdAt: token.createdAt,
  createdBy: token.createdBy,
  expiresAt: token.expiresAt,
  revokedAt: token.revokedAt,
  lastUsedAt: token.lastUsedAt,
})
