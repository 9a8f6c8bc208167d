import type { Json, JsonObject } from './json/json.ts'
import { MAX_QUEUE_DELAY_MS, MAX_WAITING_FOR_BYTES } from './limits.ts'

/** Something that a suspended execution waits for. Its execution's record shows it; times are ISO 8601. */
export type Wait = {
  kind: 'approval' | 'signal' | 'sleep' | 'retry' | 'execution' | 'limit'
  /** The name of the wait in a code agent, of the step that is tried again, or of the tool. */
  name: string
  since: string
  /** When it ends if nothing else ends it before; null: when the execution may wait no longer. */
  until: string | null
  /** Of an approval: its id. Of an execution: that of the child. */
  id?: string
  /** The number of the step that the wait belongs to. */
  step?: number
  /** The names of the signals that end it. */
  signals?: string[]
}

/**
 * A suspended execution: no worker, no message and no timer of a process belongs to it. Times are milliseconds since
 * the epoch.
 */
export type Suspension = {
  /** When it was suspended. Identifies the suspension: resuming requires that it is still the same one. */
  at: number
  /** When the timer resumes it, if nothing else does. */
  until: number
  waits: Wait[]
}

/** Whether an execution waits for its turn: it has not begun. */
export const isQueued = ({ waits }: Pick<Suspension, 'waits'>): boolean =>
  waits.some(({ kind }) => kind === 'limit')

/** A wait that is shorter than the longest delay of a message needs no sweep. */
export const hasOwnMessage = ({ at, until }: Pick<Suspension, 'at' | 'until'>): boolean =>
  until - at < MAX_QUEUE_DELAY_MS

/** What fits `MAX_WAITING_FOR_BYTES` of JSON, beginning with the first one. The table keeps no order of members. */
export function toWaitingFor(waits: Wait[]): Wait[] {
  let bytes = 2
  const records = waits.map(({ kind, name, since, until, ...others }) => ({
    kind,
    name,
    since,
    until,
    ...others,
  }))
  const fitting = records.filter((wait) => {
    const added = sizeOf(wait) + 1
    if (bytes + added > MAX_WAITING_FOR_BYTES) return false
    bytes += added
    return true
  })
  const [first] = records
  return fitting.length > 0 || !first ? fitting : [withFewerSignals(first)]
}

/** A wait that is too large alone: with as many of its signals as fit. */
function withFewerSignals({ signals = [], ...wait }: Wait): Wait {
  const fits = (count: number) =>
    sizeOf({ ...wait, signals: signals.slice(0, count) }) + 2 <= MAX_WAITING_FOR_BYTES
  return { ...wait, signals: signals.filter((_, index) => fits(index + 1)) }
}

const sizeOf = (wait: Wait): number => Buffer.byteLength(JSON.stringify(wait))

/** What a code agent, or a remote agent's run, says that it waits for. `timeoutSeconds` is null without a limit. */
export type WaitCall =
  | { kind: 'sleep'; seconds: number }
  | { kind: 'sleep'; until: string }
  | {
      kind: 'signal'
      signals: string[]
      isAny: boolean
      timeoutSeconds: number | null
      schema?: { [keyword: string]: unknown }
      /** See `WaitRequest`. */
      tellsCancel?: boolean
    }
  | { kind: 'approval'; title: string; dataJson: string; timeoutSeconds: number | null }

/** What a code agent waits for, or the run of a remote agent, as stored with its step. */
export type WaitRequest =
  | { kind: 'sleep'; until: string }
  | {
      kind: 'signal'
      signals: string[]
      isAny: boolean
      until: string | null
      schema?: JsonObject
      /** A remote agent is told if the execution is cancelled. */
      tellsCancel?: true
    }
  | { kind: 'approval'; id: string; title: string; data: Json; until: string }

/** When a call of a tool needs an approval: always, or if its arguments match the JSON Schema `when`. */
export type ApprovalRule = {
  when?: JsonObject
  /** Whether the token that started the run cannot decide, nor one that derives from it. */
  notByCaller?: boolean
  /** JSON Pointers to the arguments that decide. */
  show?: string[]
  timeoutSeconds: number
}

/** The approval that a tool call needs, as stored with its step. */
export type CallApproval = {
  id: string
  until: string
  notByCaller?: true
  show?: string[]
  /** Of the tool, for an input that the approver edits. */
  inputSchema: JsonObject
}

/** The value of the result that a decision is stored as. `timeout`: nobody decided in time. */
export type Decision = {
  decision: 'approve' | 'reject' | 'timeout'
  note: string | null
  /** The name and the short id of the token; null after a timeout. */
  by: string | null
  decidedAt: string
  /** The arguments that the approver replaced those of the call by; null if unchanged. */
  input: JsonObject | null
}

/** Data sent to an execution from outside. Kept until a wait takes it. */
export type Signal = {
  id: string
  name: string
  data: Json
  receivedAt: string
  /** Of the JSON of its data. */
  bytes: number
  /** Of the data, if its sender chose the id by an idempotency key: the same key has the same data. */
  dataHash?: string
}

/** A name fits a path: clients of HTTP resolve the segments `.` and `..`. */
export const SIGNAL_NAME = /^(?!\.{1,2}$)[\w.-]{1,128}$/

export const isSignalName = (name: unknown): name is string =>
  typeof name === 'string' && SIGNAL_NAME.test(name)

export const SIGNAL_NAME_RULE =
  'The name of a signal has 1 to 128 letters, digits, "_", "." and "-", and is neither "." nor "..".'

/** Whether anybody has to decide: such executions are listed apart. */
export const needsApproval = (waits: Pick<Wait, 'kind'>[]): boolean =>
  waits.some(({ kind }) => kind === 'approval')

/** It began to wait; `at` in milliseconds since the epoch. `revision`: of the event. */
export type PendingEvent = { revision: number; at: number; waits: Wait[] }
