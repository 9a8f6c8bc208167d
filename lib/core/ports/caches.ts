import type { JsonObject } from '../json/json.ts'
import type { ServedDeclarations } from '../model.ts'

/** `output` is null while the execution is still running. */
export type CacheEntry = { executionId: string; output: JsonObject | null }

export interface CacheStore {
  /** Null also for an entry that has expired at `now`. */
  get(params: { key: string; now: number }): Promise<CacheEntry | null>
  /**
   * Reserves the key for an execution that is about to compute the result, if the key is free or reserved by
   * `replaces`. Returns the entry that is stored afterwards: this execution's own or another's.
   */
  reserve(params: {
    key: string
    executionId: string
    replaces: string | null
    now: number
  }): Promise<CacheEntry>
  /** Stores the output of the execution that holds the reservation; for any other execution, does nothing. */
  store(params: {
    key: string
    executionId: string
    output: JsonObject
    expiresAt: number | null
  }): Promise<void>
  /** Removes the entry if it belongs to this execution. */
  drop(params: { key: string; executionId: string }): Promise<void>
}

/** What an idempotency key is bound to: the execution of its first request, and the hash of that request. */
export type Reservation = { id: string; executionId: string; requestHash: string; isDeleted?: true }

/** Declarations of MCP tools, by a hash of them. They are part of the requests of runs. */
export interface DeclarationStore {
  /** Keeps them as long as the executions that begin within a day of `now`. */
  put(params: DeclarationsKey & { declarations: ServedDeclarations; now: number }): Promise<void>
  get(params: DeclarationsKey): Promise<ServedDeclarations | null>
}

export type DeclarationsKey = { organizationId: string; hash: string }

export interface IdempotencyStore {
  /** Binds the key to this execution unless it is bound already. Returns what it is bound to. */
  reserve(params: {
    agentId: string
    key: string
    executionId: string
    requestHash: string
    now: number
    expiresAt: number
  }): Promise<Reservation>
}
