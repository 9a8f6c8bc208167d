import type { Budget } from './budget.ts'
import type { Execution, ExecutionStatus, LostStep, Progress } from './execution.ts'
import type { Json } from './json/json.ts'
import type { ModelStopReason, ResponsePart, ToolCall, ToolResult } from './model.ts'
import type { Usage } from './model-usage.ts'
import type { Page, PageRequest } from './ports/system.ts'
import type { CallApproval, Suspension, Wait, WaitRequest } from './wait.ts'

/**
 * A checkpoint: one model response, or one named step or wait of a code agent. Immutable once written. The result of a
 * wait is recorded like that of a tool call.
 */
export type Step = {
  /** From 1, without gaps. */
  number: number
  startedAt: string
  finishedAt: string
  /** Which attempt at the execution has made it, from 1. Absent for the first. */
  attempt?: number
} & (
  | {
      kind: 'MODEL'
      /** The model that responded, as recorded: provider, model and, unless default, the reasoning level. */
      model?: string
      text: string
      calls: StepCall[]
      messages: Json[]
      usage: Usage
      stopReason: ModelStopReason
      /** How many of the oldest tool results its request had cleared. Absent for none. */
      clearedResults?: number
      isPaused?: true
      /** Of the request that it answers. */
      request?: RequestKey
      /** It was taken from the recording of the original. `usage` is what it cost there, and not here. */
      replayed?: { usage: Usage }
    }
  /** Without a value, its first attempt failed: the results of the step are its attempts (`attempts.ts`). */
  | {
      kind: 'CODE'
      name: string
      value?: Json
      /** The slug of the agent that the step runs. Its only attempt is that run. */
      agent?: string
      /** What that agent may spend. */
      share?: Budget
    }
  | { kind: 'WAIT'; name: string; wait: WaitRequest }
)

/** `approval`: what it needs before it is executed. */
export type StepCall = ToolCall & { approval?: CallApproval }

export type ModelStep = Extract<Step, { kind: 'MODEL' }>

export type WaitStep = Extract<Step, { kind: 'WAIT' }>

/** What the response of a step used: here, or, if it was replayed, in the original. */
export const responseUsageOf = ({ usage, replayed }: Pick<ModelStep, 'usage' | 'replayed'>): Usage =>
  replayed?.usage ?? usage

/** Under this call id the result of a wait is recorded, unless it is an approval: that has an id. */
export const WAIT_RESULT = 'wait'

/**
 * The result of one tool call of a step. The decision on an approval is recorded in the same way, under the id of the
 * approval: the first one counts.
 */
export type CallResult = {
  callId: string
  result: ToolResult
  startedAt: string
  finishedAt: string
  /** As in a step. */
  attempt?: number
  /** The signals that a wait has taken, and those that it has skipped because they do not match its schema. */
  signals?: { taken: string | null; skipped: { id: string; reason: string }[] }
  /** What a failed attempt at a step of a code agent threw. `retryAt`: when the next one may begin; null for none. */
  failure?: { name: string; code?: string; at?: string; retryAt: string | null }
}

/** A step with the tool results recorded so far, by call id. */
export type RecordedStep = { step: Step; results: Map<string, CallResult> }

export type RecordedModelStep = RecordedStep & { step: ModelStep }

/** The first attempt is not stored: most runs have no other. */
export const attemptOf = ({ attempt = 1 }: Pick<Step, 'attempt'>): number => attempt

/** Without the steps that are stored: a write can arrive after its worker has given it up. */
export const stillLost = (lostSteps: LostStep[], recorded: RecordedStep[]): LostStep[] =>
  lostSteps.filter(({ number, attempt }) => {
    const stored = recorded[number - 1]?.step
    return !stored || attemptOf(stored) !== attempt
  })

/** The progress of a run that no worker resumes, with its lost steps that have not arrived since. */
export async function withLost(
  steps: Pick<StepStore, 'read'>,
  executionId: string,
  progress: Progress | null,
  lostSteps: LostStep[],
): Promise<(Progress & { lostSteps?: LostStep[] }) | null> {
  if (!progress || lostSteps.length === 0) return progress
  return { ...progress, lostSteps: stillLost(lostSteps, await steps.read({ executionId })) }
}

/** The last step that is known, 0 if none is, and its calls whose results are not. */
export type JournalEnd = { number: number; pendingCalls: string[] }

/** The result of the step was stored at this time (ISO 8601). */
export type RecordedDecision = { executionId: string; number: number; decidedAt: string }

export interface StepStore {
  /** False if another worker has written a step with this number, or if the journal is closed. */
  append(params: { executionId: string; owner: string; step: Step; progress: Progress }): Promise<boolean>
  /** Returns the stored result: the first one recorded for a call is kept. */
  appendResult(params: {
    executionId: string
    number: number
    result: CallResult
    /** The result is a decision, which `listDecisions` of this organization lists. */
    decidedIn?: string
  }): Promise<CallResult>
  /** Where the decisions of people are recorded, the latest first. */
  listDecisions(params: { organizationId: string } & PageRequest): Promise<Page<RecordedDecision>>
  /** The progress stored with the last step; null if there is none. */
  getProgress(params: { executionId: string }): Promise<Progress | null>
  /** Refuses further steps. Returns the progress stored with the last one; null if there is none. */
  close(params: { executionId: string }): Promise<Progress | null>
  /** Whether any of these results is recorded. One small read. */
  hasResult(params: { executionId: string; calls: { number: number; callId: string }[] }): Promise<boolean>
  /** All steps, in order. */
  read(params: { executionId: string }): Promise<RecordedStep[]>
  /** A page of steps in order, of at most `maxBytes` bytes of JSON unless its first step is larger. */
  list(params: { executionId: string; maxBytes: number } & PageRequest): Promise<Page<RecordedStep>>
  /** The status of the execution (null: it does not exist), and whether its journal has more. One small read. */
  probe(params: {
    organizationId: string
    id: string
    end: JournalEnd
    /** Also what its worker has kept of the present response, and until when readers follow it. */
    withResponse?: boolean
  }): Promise<{
    status: ExecutionStatus | null
    suspension: Suspension | null
    hasMore: boolean
    live?: { response: ResponseSoFar | null; watchedUntil: number }
  }>
  /**
   * Keeps the present response for readers in other processes, instead of what was kept before; not if it is too large.
   * It expires `keptMs` after this.
   */
  keepResponse(params: { executionId: string; response: ResponseSoFar; keptMs: number }): Promise<void>
}

/** The response that a model is writing, so far. Without a call, a part is of its text. `isVoid`: it has failed. */
export type ResponseSoFar = {
  step: number
  try: number
  isVoid: boolean
  parts: { call: { id: string; name: string } | null; text: string }[]
}

/**
 * A piece of the response that a model is writing. `try` numbers the responses that were begun for the step; `reset`
 * makes the deltas of one void, and a step those of its number.
 */
export type DeltaEvent =
  | ({ kind: 'delta'; step: number; try: number } & ResponsePart)
  | { kind: 'reset'; step: number; try: number }

/** What happens in an execution, as its readers see it. */
export type ExecutionEvent =
  | { kind: 'status'; id: string; status: ExecutionStatus }
  /** With the results that were recorded when it was read. */
  | { kind: 'step'; recorded: RecordedStep }
  /** The result of a call of the step. */
  | { kind: 'tool'; recorded: RecordedStep; callId: string }
  | { kind: 'done'; execution: Execution }
  | DeltaEvent
  /** The execution is suspended. The last event. */
  | { kind: 'waiting'; id: string; waits: Wait[] }
  /** Nothing has happened for a while. */
  | { kind: 'idle' }

/**
 * What a model request consists of: names, and hashes of what is long. Equal requests have equal keys. `declarations`:
 * the stored declarations of its MCP tools.
 */
export type RequestKey = {
  model: string
  answerMode: string
  instructions: string
  tools: string
  messages: string
  truncatedAfter?: number
  declarations?: string
}
