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
  /** Also cancels the execution when the signal aborts or the deadline passes. Otherwise it continues without this caller. */
  cancelOnAbort?: boolean | undefined
}

/** Parameters of a run. The service describes them in `docs/runs.md`. */
export type RunParameters = {
  /** Reject input that does not exactly match the input schema. */
  enforceInputSchema?: boolean | undefined
  /** Reuse the result of an earlier execution with the same version, tenant and input. */
  useCache?: boolean | undefined
  /** 1 to 500. */
  maxAgentSteps?: number | undefined
  /** The maximum number of input and output tokens. */
  maxTokens?: number | undefined
  /** The maximum price of the model responses in US dollars. */
  maxCostUsd?: number | undefined
  /** The ID of the version to run, which can be a draft. Default: the current version. */
  version?: string | undefined
  /** 1 to 128 characters. */
  tenantId?: string | undefined
  /** Show the model similar past executions as examples. */
  useDynamicLearning?: boolean | undefined
  /** `{model}[:{reasoning}]` */
  model?: string | undefined
}

export type RunOptions = RunParameters &
  WaitOptions & {
    /**
     * For 24 hours, runs with the same key and input are the same execution. Each call gets a new key by default, so that
     * its retries cannot start a second execution.
     */
    idempotencyKey?: string | undefined
  }

export type ListOptions = CallOptions & {
  /** Items per request, 1 to 100, 50 by default. Iteration reads all pages. */
  limit?: number | undefined
}

/** Filters of executions, which can be combined. */
export type ExecutionFilter = {
  /** The slug or ID of the agent. Default: all agents of the organization. */
  agent?: string | undefined
  status?: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR' | undefined
  tenantId?: string | undefined
  /** Created at this time or later (RFC 3339 with a time zone). */
  from?: string | undefined
  /** Created before this time (RFC 3339 with a time zone). */
  to?: string | undefined
}
