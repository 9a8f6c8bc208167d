import type { Agent, Organization, Token, Version } from './agent.ts'
import type { Place } from './cursor.ts'
import type { Execution, ExecutionError, ExecutionStatus, Lease, Outcome } from './execution.ts'
import type { JsonObject } from './json.ts'
import type { LearningStore } from './learning.ts'

/** The two sources of impurity that decisions need: milliseconds since the epoch, and fresh UUIDv7s. */
export type System = { now: () => number; newId: () => string }

/** A page of a list, newest first. `next` is where the following page begins; null when this is the last one. */
export type Page<T> = { items: T[]; next: Place | null }

export type PageRequest = { limit: number; after: Place | null }

export interface OrganizationStore {
  create(params: { organization: Organization }): Promise<void>
  get(params: { id: string }): Promise<Organization | null>
  list(params: PageRequest): Promise<Page<Organization>>
}

export interface TokenStore {
  /** False when there is a token of this text. */
  create(params: { token: Token }): Promise<boolean>
  /** The token with this SHA-256, in hexadecimal; also when it is expired or revoked. */
  getByHash(params: { hash: string }): Promise<Token | null>
  list(params: { organizationId: string } & PageRequest): Promise<Page<Token>>
  /** Whether there is this token, in the organization when one is given; revoking twice keeps the first time. */
  revoke(params: { organizationId: string | null; id: string; revokedAt: string }): Promise<boolean>
}

export interface AgentStore {
  /** Writes the version and its code, then points its agent to it, making the agent when there is none. */
  publish(params: { version: Version; code: string | null }): Promise<void>
  get(params: { organizationId: string; id: string }): Promise<Agent | null>
  list(params: { organizationId: string } & PageRequest): Promise<Page<Agent>>
  getVersion(params: { organizationId: string; agentId: string; id: string }): Promise<Version | null>
  /** Published ones and drafts, newest first. */
  listVersions(params: { organizationId: string; agentId: string } & PageRequest): Promise<Page<Version>>
  /** The bundled ES module of a code agent's version. */
  getCode(params: { agentId: string; versionId: string }): Promise<string | null>
}

export type ExecutionFilter = { status: ExecutionStatus | null; tenantId: string | null }

export type Progress = Pick<Execution, 'steps' | 'usage' | 'model'>

export interface ExecutionStore extends LearningStore {
  /** Records an accepted execution. False when it was there: then nothing changes. */
  create(params: { execution: Execution }): Promise<boolean>
  get(params: { organizationId: string; id: string }): Promise<Execution | null>
  /** Its state alone, at the price of one small read however large its payloads are. */
  getStatus(params: { organizationId: string; id: string }): Promise<ExecutionStatus | null>
  /** Executions of the organization that are open at this moment; about so many while that is far below `most`. */
  countOpen(params: { organizationId: string; max: number }): Promise<number>
  /** Executions of the organization, or of one of its agents. */
  list(
    params: { organizationId: string; agentId: string | null } & ExecutionFilter & PageRequest,
  ): Promise<Page<Execution>>
  /** Takes the lease of an open execution. `held`: another's lease is live; `closed`: it is final or gone. */
  claim(params: { id: string; lease: Lease; now: number }): Promise<Execution | 'held' | 'closed'>
  /** Extends the lease, and keeps what was done and what is learned from so far; false once the owner has lost it. */
  renew(params: { id: string; lease: Lease; progress?: Progress; learnedFrom?: string[] }): Promise<boolean>
  /**
   * Gives the lease back for another worker to go on, which the sweeper sees to from `until` on. `fault` is why, when
   * something failed; `waits` when the run only waits for another one. False when the owner had lost it.
   */
  release(params: {
    id: string
    owner: string
    until: number
    fault: ExecutionError | null
    waits?: boolean
  }): Promise<boolean>
  /** Ends the execution; null when `owner` does not hold its lease any more. */
  finish(params: {
    execution: Execution
    owner: string
    outcome: Outcome
    finishedAt: string
  }): Promise<Execution | null>
  /** Ends an open execution whoever holds it; null when it was final or is not there. */
  end(params: {
    organizationId: string
    id: string
    error: ExecutionError
    finishedAt: string
    /** Only when no lease was live at this time. */
    unleasedAt?: number
  }): Promise<Execution | null>
  /** Removes a final execution with all that belongs to it. */
  delete(params: { organizationId: string; id: string }): Promise<'deleted' | 'missing' | 'open'>
  /** Open executions whose lease or grace had run out at `now`, longest waiting first. */
  listStale(params: { now: number; limit: number }): Promise<StaleExecution[]>
  /** Puts the next sweep of a stale execution off; false when somebody else took it up. */
  postpone(params: { stale: StaleExecution; until: number }): Promise<boolean>
}

export type StaleExecution = Pick<
  Execution,
  'id' | 'organizationId' | 'tenantId' | 'createdAt' | 'deadlineAt'
> & { openUntil: number }

/** `tenantId` groups messages, so that one tenant's backlog does not delay another's. */
export type QueuedExecution = { executionId: string; organizationId: string; tenantId: string | null }

export interface RunQueue {
  /** `delayMs` keeps it from the runner for a while, 15 minutes at most. @throws Unavailable */
  send(params: QueuedExecution & { delayMs?: number }): Promise<void>
}

/** `output` is null while the execution is at work. */
export type CacheEntry = { executionId: string; output: JsonObject | null }

export interface CacheStore {
  /** Null also for an entry whose time is over at `now`. */
  get(params: { key: string; now: number }): Promise<CacheEntry | null>
  /**
   * Makes an execution the one that is at work for a key, when there is none or it is `instead`. Returns the entry that
   * the key has then: its own, or that of another one which is at work or has left its output.
   */
  lead(params: { key: string; executionId: string; instead: string | null; now: number }): Promise<CacheEntry>
  /** Keeps the output of the execution that is at work for the key; of any other nothing is kept. */
  store(params: {
    key: string
    executionId: string
    output: JsonObject
    expiresAt: number | null
  }): Promise<void>
  /** Removes the entry if it leads to this execution. */
  drop(params: { key: string; executionId: string }): Promise<void>
}

/** What an idempotency key led to: the id that its first request was given, and what that request asked for. */
export type Reservation = { id: string; executionId: string; fingerprint: string }

export interface IdempotencyStore {
  /** Keeps the key for this execution unless it leads to one already. Returns what it leads to. */
  reserve(params: {
    agentId: string
    key: string
    executionId: string
    fingerprint: string
    now: number
    expiresAt: number
  }): Promise<Reservation>
}
