import type { FunctionName } from '../../infra/functions/function-settings.ts'

/** What one run needs of one function, on average over many. */
export type FunctionUse = {
  name: FunctionName
  /** Milliseconds of processor time, of a whole core. */
  cpuMs: number
  /** Requests to the table by operation, as AWS names it, and the units that they consume. */
  requests: Record<string, number>
  readUnits: number
  writeUnits: number
  /** Sent by the function itself. */
  queueRequests: number
  /** What it prints. */
  logBytes: number
}

/** What one run needs, beyond its model and the time that it takes. */
export type RunUse = {
  kind: 'sync' | 'async' | 'cached'
  functions: FunctionUse[]
  /** What is kept of it: items and index entries. */
  storedBytes: number
}

export type Measured = { date: string; node: string; runs: number; uses: RunUse[] }
