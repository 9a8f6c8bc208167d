import type * as contract from './contract.ts'
import type { Batch, Execution, Optional, Wait } from './records.ts'

/** How a client reaches the service. */
export type ClientOptions = {
  /** The address of the service, such as `https://agents.example.com`. A path ends where `/v1` begins. */
  baseUrl: string
  /** An API token. Pages and apps that you give to others must not contain one. */
  token: string
  /** Default of the calls that have no `timeoutMs` of their own. 10 minutes if absent; no limit for event streams. */
  timeoutMs?: number
  /**
   * How often a request is repeated after failures in a row, 20 by default (about a minute). 0 turns retries off. Not
   * counted are responses that say when to come back (`Retry-After`): they are limited by the deadline alone.
   */
  maxRetries?: number
  /** Used instead of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Used instead of `JSON.parse` for the responses of the service, which keep every digit of a number, and instead of
   * `JSON.stringify` for inputs. By default, numbers are those of JavaScript: the nearest double.
   */
  parse?: (text: string) => unknown
  stringify?: (value: unknown) => string
}

/** Options of every call. */
export type CallOptions = {
  /** The deadline of the call with all its retries, in milliseconds. `Infinity` for none. */
  timeoutMs?: number | undefined
  /** Ends the call; it then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
}

/** Options of calls that wait for an execution. */
export type WaitOptions = CallOptions & {
  /** Also cancels the execution when the signal aborts or the deadline passes. By default, the execution continues. */
  cancelOnAbort?: boolean | undefined
  /**
   * Called once for each new list of what the execution waits for: a person, a signal, a time. The call goes on when it
   * returns or resolves; what it throws ends the call, not the execution. Not for streams, which have an event for it.
   */
  onWaiting?: ((waitingFor: Wait[], execution: Execution) => unknown) | undefined
}

export type RunParameters = Optional<contract.RunParameters>

export type RunOptions = RunParameters &
  WaitOptions & {
    /**
     * For 24 hours, runs with the same key and input are the same execution. Each call gets a new key by default, so
     * that its retries cannot start a second execution.
     */
    idempotencyKey?: string | undefined
  }

export type ListOptions = CallOptions & {
  /** Items per request, 1 to 100, 50 by default. Iteration reads all pages. */
  limit?: number | undefined
}

export type AgentFilters = Optional<contract.AgentFilters>

/** `actor`: the ID or the subject of who made the change. `target`: the ID of what was changed. */
export type AuditFilters = Optional<contract.AuditFilters>

export type LimitFilters = { kind?: 'tenant' | 'agent' | undefined }

/** `agent`: its slug or ID. */
export type ApprovalFilters = { agent?: string | undefined; tenantId?: string | undefined }

/** Of the executions of a batch. */
export type LineFilters = { status?: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR' | undefined }

export type SignalOptions = CallOptions & {
  /** Signals with the same key and data are delivered once. Each call gets a new key by default. */
  idempotencyKey?: string | undefined
}

/** Filters of executions, which can be combined. */
export type ExecutionFilters = Optional<contract.ExecutionFilters> & {
  /** The slug or ID of the agent. Default: all agents of the organization. */
  agent?: string | undefined
}

/** Parts of an execution that are left out otherwise. */
export type GetOptions = CallOptions & Optional<contract.ExecutionParameters>

/** Parameters of each run, and of the batch. */
export type StartBatchOptions = CallOptions &
  Optional<Omit<contract.BatchParameters, 'validateOnly'>> & {
    /** For 24 hours, the same key and inputs are the same batch. Each call gets a new key by default. */
    idempotencyKey?: string | undefined
  }

/** Options of calls that wait for a batch. They have no deadline by default. */
export type BatchWaitOptions = CallOptions & {
  /** Called with the batch whenever it was read. */
  onProgress?: ((batch: Batch) => void) | undefined
}

/**
 * `maxBatchCostUsd` is the limit of all batches of a call together; `validateOnly` checks all inputs, and yields
 * nothing. Calls with the same `idempotencyKey` and inputs find the batches that were started before.
 */
export type BatchOptions = StartBatchOptions & BatchWaitOptions & { validateOnly?: boolean | undefined }

/** Rows per request: 1 to 1,000, by default 1,000. Iteration reads all pages. */
export type UsageOptions = CallOptions & Optional<contract.UsageParameters>

export type ScoreOptions = CallOptions & Optional<contract.ScoreParameters>

export type AgreementOptions = CallOptions & Optional<contract.AgreementParameters>

export type BatchFilters = ListOptions & Optional<contract.BatchFilters>
export type TrialFilters = ListOptions & Optional<contract.TrialFilters>
export type TrialItemFilters = ListOptions & Optional<contract.TrialItemFilters>

/** How far a list with a search (`errorCode`, `errorText`, `version`, `source`, `model`) has looked with one page. */
export type Searched = {
  /** Executions that were compared with the filters. */
  executions: number
  /** When the oldest of them was created; null without any. */
  until: string | null
}

export type SearchOptions = {
  /**
   * Called with each page of a search, which can be empty although others follow. The iteration goes on when it returns
   * or resolves; what it throws ends the iteration.
   */
  onSearched?: ((searched: Searched) => unknown) | undefined
}
