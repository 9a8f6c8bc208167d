import type { Usage } from './execution.ts'
import type { Json } from './json.ts'
import type { ToolCall, ToolResult } from './model.ts'

/** A checkpoint: one response of a model, or one named step of a code agent. Never changed once written. */
export type Step = {
  /** From 1, without gaps. */
  number: number
  startedAt: string
  finishedAt: string
} & (
  | { kind: 'MODEL'; text: string; calls: ToolCall[]; messages: Json[]; usage: Usage }
  | { kind: 'CODE'; name: string; value: Json }
)

export type ModelStep = Extract<Step, { kind: 'MODEL' }>

/** What came of one tool call of a step. */
export type CallResult = { callId: string; result: ToolResult; startedAt: string; finishedAt: string }

/** A step with the results that are known so far, by call id. */
export type RecordedStep = { step: Step; results: Map<string, CallResult> }

export interface StepStore {
  /** False when another worker has written a step of this number. */
  append(params: { executionId: string; owner: string; step: Step }): Promise<boolean>
  /** Returns the result that is stored now: the first one of a call stays. */
  appendResult(params: { executionId: string; number: number; result: CallResult }): Promise<CallResult>
  /** In order. `from` is the first number wanted, `limit` the most steps. */
  read(params: { executionId: string; from?: number; limit?: number }): Promise<RecordedStep[]>
}
