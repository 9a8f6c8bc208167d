// Generated from agent.md by "agents check" and "agents publish". Do not edit.

export type Input = {
  /** How long to wait, from 0 to 3600 seconds. */
  seconds: number
}

export type Output = {
  /** How long the agent waited, in seconds. */
  waitedSeconds: number
}

/** The second argument of `run`. */
export type Context = {
  executionId: string
  tenantId: string | null
  /** Aborts when the run is cancelled, loses its lease or runs out of time. */
  signal: AbortSignal
  /** Runs `fn` once per name, even if the run resumes in another worker. The result is stored as JSON. */
  step: <T>(name: string, fn: () => T | Promise<T>) => Promise<T>
}

/** The function that `agent.ts` exports as its default. */
export type Run = (input: Input, context: Context) => Output | Promise<Output>
