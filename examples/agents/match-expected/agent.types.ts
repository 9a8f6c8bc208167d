// Generated from agent.md by "agent-execution check" and "agent-execution publish". Do not edit.
// Input matches the schema, unless a call says enforceInputSchema=false.

export type Input = {
  /** The output of the run. */
  output: { [key: string]: unknown }
  /** The output that a person or a test case expects. */
  expected: { [key: string]: unknown }
}

export type Output = {
  /** 1 if all words are the same, 0 if none is. */
  score: number
  /** The words that are missing or additional. */
  reason: string
}

type Log = (...values: unknown[]) => void

/** The second argument of `run`. */
export type Context = {
  executionId: string
  tenantId: string | null
  /** Aborts when the run is cancelled, loses its lease or runs out of time. */
  signal: AbortSignal
  /**
   * Runs `fn` once per name, even if the run resumes in another worker. The result is stored as JSON. With options,
   * a failed attempt is repeated up to `retries` (0 to 10) times, `backoff` seconds later (1), which double up to
   * 300, unless `retryIf` says no. `timeoutSeconds` limits each attempt.
   */
  step: {
    <T>(name: string, fn: (call: { signal: AbortSignal; attempt: number }) => T | Promise<T>): Promise<T>
    <T>(
      name: string,
      options: {
        retries?: number
        backoff?: number
        timeoutSeconds?: number
        retryIf?: (error: unknown) => boolean | Promise<boolean>
      },
      fn: (call: { signal: AbortSignal; attempt: number }) => T | Promise<T>,
    ): Promise<T>
  }
  /** Runs another agent once per name, and returns its output. Its error is thrown with its `code`. */
  run: <T = Record<string, unknown>>(name: string, slug: string, input: object) => Promise<T>
  /** `fetch` in the trace of the run, to public addresses over HTTPS and to `execution.allowedHosts`. */
  fetch: typeof fetch
  /** Prints to the log of the execution, with a level. */
  log: Log & { debug: Log; info: Log; warn: Log; error: Log }
  /** Waits without a worker. The code outside of steps runs again afterwards. Each wait has a name of its own. */
  sleep: (name: string, seconds: number) => Promise<null>
  sleepUntil: (name: string, date: Date | string | number) => Promise<null>
  /** The data of the next signal of this name, each time that it is called; null after the timeout. */
  waitForSignal: <T = unknown>(
    name: string,
    options?: { timeoutSeconds?: number; schema?: object },
  ) => Promise<T | null>
  waitForAny: <T = unknown>(
    name: string,
    options: { signals: string[]; timeoutSeconds?: number },
  ) => Promise<{ signal: string; data: T } | null>
  /** A URL by which another system sends this signal to the run, without a token. A secret until the run ends. */
  callbackUrl: (name: string) => Promise<string>
  /** `data`: as it was given, or as the approver edited it. */
  waitForApproval: <T = unknown>(
    name: string,
    options: { title: string; data?: T; timeoutSeconds?: number },
  ) => Promise<{ decision: 'approve' | 'reject' | 'timeout'; data: T; note: string | null; by: string | null }>
}

/** The function that `agent.ts` exports as its default. */
export type Run = (input: Input, context: Context) => Output | Promise<Output>
