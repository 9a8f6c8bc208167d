import type { MeRecord } from '../../lib/contract/records/records.ts'
import type { CreatedTokenRecord, TokenRecord } from '../../lib/contract/records/token.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { post, remove } from '../api/request.ts'
import { createSecretStore } from '../components/shown-once.tsx'
import type { Store } from '../state/store.ts'

/** What `POST /v1/tokens` takes. What is absent is as for the token that is signed in. */
export type NewToken = Pick<TokenRecord, 'name' | 'scopes' | 'expiresAt'> & {
  agents?: string[] | null
  tenantId?: string | null
  rate?: number | null
}

/** @param days empty for never */
export const toExpiry = (days: string, now: number): string | null =>
  days === '' ? null : new Date(now + Number(days) * DAY_MS).toISOString()

export const createToken = (token: NewToken): Promise<CreatedTokenRecord> =>
  post('/v1/tokens', { json: token })

/** @param afterSeconds 0: at once */
export const endToken = (id: string, afterSeconds: number): Promise<TokenRecord> =>
  remove(`/v1/tokens/${id}`, { query: afterSeconds > 0 ? { afterSeconds } : {} })

/** A token that the service has just made, and tells nobody again. */
export type ShownToken = {
  made: CreatedTokenRecord
  /** The one that it replaces, and for how long that stays valid. Null: none. */
  replaces: { token: TokenRecord; afterSeconds: number } | null
}

export const shownToken: Store<ShownToken | null> = createSecretStore<ShownToken>()

export type TokenState = 'valid' | 'expiring' | 'expired' | 'revoked'

/** A token that ends within it is marked. */
const EXPIRING_MS = 7 * DAY_MS

export function stateOf({ revokedAt, expiresAt }: TokenRecord, now: number): TokenState {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'valid'
  const left = Date.parse(expiresAt) - now
  return left <= 0 ? 'expired' : left <= EXPIRING_MS ? 'expiring' : 'valid'
}

export const hasEnded = (token: TokenRecord, now: number): boolean =>
  ['expired', 'revoked'].includes(stateOf(token, now))

/** Whether the token that is signed in may create one that may do the same. Its agents and its tenant are within it. */
export const mayReplace = (me: MeRecord | null, { scopes, rate }: TokenRecord): boolean =>
  me !== null &&
  scopes.every((scope) => me.scopes.includes(scope)) &&
  (me.rate === null || (rate !== null && rate <= me.rate))
