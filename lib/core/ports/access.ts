import type { Organization, Token } from '../agent.ts'
import type { AuditAction, AuditEntry } from '../audit.ts'
import type { OwnedId, Page, PageRequest } from './system.ts'

export interface OrganizationStore {
  create(params: { organization: Organization }): Promise<void>
  get(params: { id: string }): Promise<Organization | null>
  list(params: PageRequest): Promise<Page<Organization>>
}

export interface TokenStore {
  /** False if a token with this hash exists. */
  create(params: { token: Token }): Promise<boolean>
  /** The token with this SHA-256 (hexadecimal), even if it is expired or revoked. */
  getByHash(params: { hash: string }): Promise<Token | null>
  list(params: { organizationId: string } & PageRequest): Promise<Page<Token>>
  /** Sets the hour of the last use, unless it is set to this hour or a later one. */
  recordUse(params: { hash: string; lastUsedAt: string }): Promise<void>
  /** The token with this id, even if it is expired or revoked. */
  get(params: { id: string }): Promise<Token | null>
  /** Returns the token; null if it does not exist. Revoking twice keeps the first time. */
  revoke(params: { hash: string; revokedAt: string }): Promise<Token | null>
  /** Lets the token end at this time, unless it ends before or is revoked. Returns it; null if it does not exist. */
  expire(params: { hash: string; expiresAt: string }): Promise<Token | null>
}

export interface RateStore {
  /** Counts a request of a token in a second (since the epoch). Returns the number of requests in it so far. */
  count(params: { tokenId: string; second: number }): Promise<number>
  /** Adds bytes to those of an organization in a minute (since the epoch). Returns their sum so far. */
  addBytes(params: { organizationId: string; minute: number; bytes: number }): Promise<number>
  /**
   * Counts a process that open requests of an organization occupy in a window of time, which ends at `endsAt`
   * (milliseconds since the epoch). `name`: of the counter. Returns the number of processes in it so far.
   */
  countProcess(params: {
    organizationId: string
    name: string
    window: number
    endsAt: number
  }): Promise<number>
  /** The account's quota of concurrent executions; null if none is stored that is still valid at `now`. */
  getQuota(params: { now: number }): Promise<number | null>
  /** `until`: how long it is valid, in milliseconds since the epoch. */
  putQuota(params: { quota: number; until: number }): Promise<void>
}

/** A synchronous run, an event stream of a run that is not part of the request, or a wait for an execution. */
export type OpenRequestKind = 'run' | 'stream' | 'wait'

/** Limits the requests that stay open while an execution runs. */
export interface OpenRequests {
  /** @throws TooManyOpenRequests if it is known that the owner may have no more */
  hold(kind: OpenRequestKind, owner: { tokenId: string; organizationId: string }): Promise<HeldRequest>
}

export type HeldRequest = {
  /** Aborts when the request has to end because others of its organization take up its share. */
  full: AbortSignal
  /** The request has ended. Calling it again does nothing. */
  release: () => void
}

/** Selects entries. `actor`: its id or subject. `target`: its id, or that of its agent or execution. */
export type AuditFilter = {
  action?: AuditAction | undefined
  actor?: string | undefined
  target?: string | undefined
}

/** What was changed, by whom. Nothing removes entries before they expire. */
export interface AuditStore {
  /** Keeps an entry. `isMarked`: the outbox tells the event bus of it. False if one with its id is kept. */
  begin(params: { entry: AuditEntry; isMarked: boolean }): Promise<boolean>
  /** Stores the result, the target and the changes of an entry that has no result. False if it has one. */
  end(params: { entry: AuditEntry }): Promise<boolean>
  get(params: OwnedId): Promise<AuditEntry | null>
  /** Newest first. `from`, `before`: milliseconds since the epoch. */
  list(
    params: { organizationId: string; from?: number | undefined; before?: number | undefined } & AuditFilter &
      PageRequest,
  ): Promise<Page<AuditEntry>>
}
