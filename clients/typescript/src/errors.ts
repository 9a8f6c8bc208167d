import type { ErrorCode, ExecutionError, Violation } from './records.ts'

/** What errors of every code have. */
type Common = Error & {
  /** The HTTP status. 0 without a response. */
  readonly status: number
  /** What is wrong and how to correct it, for people. */
  readonly detail: string
  /** The ID of the request. Quote it when you ask for support. */
  readonly instance?: string
  /** When the service asks to come back, in milliseconds. */
  readonly retryAfterMs?: number
}

type WithViolations = {
  readonly errors: Violation[]
}
type WithExecution = { readonly executionId: string }
type WithFailedExecution = WithExecution & { readonly error: ExecutionError }

/** The figures of a trial that has ended, and the limits that it does not meet. */
type WithTrial = {
  readonly trialId: string
  readonly runs?: number
  readonly verdicts?: Record<string, number>
  /** Null: the originals cost nothing. */
  readonly costIncrease?: number | null
  readonly limits?: Record<string, number>
}

/** Members that errors of a code have besides the common ones. */
type Members = {
  InvalidQueryParameter: WithViolations
  InvalidHeader: WithViolations
  InvalidModelOverride: WithViolations
  /** With `enforceInputSchema`, nothing ran. Else the agent failed on the input, and `error` says how. */
  InputSchemaMismatch: WithViolations & Partial<WithFailedExecution>
  FeedbackMismatch: WithViolations
  /** Problems of a document, with the lines where they are. */
  InvalidAgent: WithViolations
  TrialFailed: WithTrial
  ExecutionInProgress: WithExecution
  ExecutionStillRunning: WithExecution
  /** `error`: why the execution failed, by a code of its own. */
  ExecutionFailed: WithFailedExecution
  /** The deadline of the call has passed. `executionId`: what it was waiting for, if that is known. */
  ClientTimeout: { readonly executionId?: string }
  /** `executionId`: of the execution whose stream had an unreadable event. */
  UnexpectedResponse: { readonly executionId?: string }
  /** What is wrong with the webhook. `body`: it is signed, but not an event. */
  InvalidWebhook: { readonly reason: 'headers' | 'timestamp' | 'signature' | 'body' }
}

/** Codes of this client: of calls that the service did not answer, and of webhooks that it did not sign. */
type ClientCode = 'ClientTimeout' | 'ConnectionFailed' | 'UnexpectedResponse' | 'InvalidWebhook'

/** An error by its `code`: a `switch` over it narrows the type. */
export type AgentError = {
  [Code in ErrorCode | ClientCode]: Common & { readonly code: Code } & (Code extends keyof Members
      ? Members[Code]
      : unknown)
}[ErrorCode | ClientCode]

type Fields = { code: string; status?: number; detail: string; [member: string]: unknown }

class ErrorWithCode extends Error {
  readonly status = 0

  /** `fields`: problem details (RFC 9457), whose members become those of the error. */
  constructor(fields: Fields, cause?: unknown) {
    super(fields.detail, { cause })
    const { code, name, message, stack, ...members } = fields
    Object.assign(this, { ...members, code, name: code })
  }
}

/** What calls reject with, unless their signal was aborted. */
export const AgentError = ErrorWithCode as unknown as {
  new (fields: Fields, cause?: unknown): AgentError
  prototype: AgentError
}
