import { failure, type Outcome } from '../../../core/execution.ts'
import type { ExecutionError } from '../../../core/execution-errors.ts'
import type { Json } from '../../../core/json/json.ts'
import { FINAL_ANSWER, isRefused, ModelConfigurationError, ModelError } from '../../../core/model.ts'
import { type ModelStep, type RecordedModelStep, responseUsageOf } from '../../../core/step.ts'
import { truncate } from '../../../schema/message-text.ts'
import type { Validator } from '../../../schema/validate/validate.ts'
import { ToolError } from '../../../tools/tool.ts'
import { type RetryPolicy, retryableError } from '../../checkpoints/stop-reason.ts'
import { parseText } from './answer-text.ts'
import { isFinalAnswer, isText } from './final-answer.ts'
import type { History } from './history.ts'

/** Additional steps in which a model may correct an invalid answer. */
const MAX_REPAIRS = 2
/** Additional steps for a truncated response. */
const MAX_TRUNCATION_RETRIES = 1
/** Also a warning of a run that does not require tools. */
export const TOOLS_NEVER_CALLED = 'ToolsNeverCalled'
/** Of the text of a refusal. */
const MAX_TEXT_CHARACTERS = 1_000

type Params = {
  history: History
  steps: RecordedModelStep[]
  maxAgentSteps: number
  /** Whether the model was offered tools, the final-answer tool included. */
  hasTools: boolean
  checkOutput: Validator
}

/** Why a run without a result must not request another response; null if it may. */
export function findFailure({ history, steps, maxAgentSteps, ...params }: Params): ExecutionError | null {
  const last = steps.at(-1)
  if (last && isRefused(last.step.stopReason)) return refused(last.step)
  const { truncated, invalidAnswers } = history
  const isExhausted = steps.length >= maxAgentSteps
  const isHopeless = truncated.length > MAX_TRUNCATION_RETRIES || history.isFull
  if (isHopeless || (isExhausted && truncated.length > 0)) return truncatedError(truncated, steps.length)
  if (invalidAnswers.length > MAX_REPAIRS) return schemaMismatch(history, params)
  if (!isExhausted) return null
  const message = `The run used all ${maxAgentSteps} steps (maxAgentSteps) without a result.`
  return { code: 'MaxAgentStepsExceeded', message, step: steps.length }
}

/** The error of a run that must use its tools and did not. `step`: of its answer, or the last before it is given up. */
export const toolsNeverCalled = (step: number): ExecutionError => ({
  code: TOOLS_NEVER_CALLED,
  message:
    'The model called none of the tools of the agent, which requires one (requireTools). The server or its chat template may not support tools.',
  step,
})

/** The error of a run whose request for a step failed. */
export function toRequestFailure(error: ModelError, { truncated }: History, step: number): ExecutionError {
  const { message } = error
  if (error.isTransient) return { code: 'ModelUnavailable', message, step }
  if (error.isOverflow) return { code: 'ContextExceeded', message: `${EXCEEDED} ${message}`, step }
  if (error.isTooLarge) return { code: 'OutputTooLarge', message, step }
  if (error.isRefusal) return { code: 'ModelRefused', message, step }
  if (truncated.length === 0) return { code: 'ModelFailed', message, step }
  const reason = `${AT_LIMIT}, and twice the limit was rejected: ${message}`
  return { code: 'ModelTruncated', message: reason, step }
}

const EXCEEDED = 'The conversation exceeds the context window of the model, and no more of it can be cleared.'

/**
 * The outcome of a run whose model, tools or secrets cannot be configured, opened or read.
 * @throws AttemptStopped if a retry may succeed and nobody is waiting; any other error as it is
 */
export function toSetupFailure(error: unknown, retry: RetryPolicy): Outcome {
  if (error instanceof ModelConfigurationError)
    return failure({ code: 'ModelNotConfigured', message: error.message })
  if (!(error instanceof ToolError || error instanceof ModelError)) throw error
  const code = error instanceof ToolError ? 'ToolUnavailable' : 'ModelUnavailable'
  const executionError = { code, message: error.message }
  if (error.isTransient && retry.mode === 'requeue') throw retryableError(executionError)
  return failure(executionError)
}

function refused({ number, stopReason, text }: ModelStep): ExecutionError {
  const summary =
    stopReason === 'refusal' ? 'The model refused to respond' : 'A content filter stopped the response'
  const message = text.trim() === '' ? `${summary}.` : `${summary}: ${truncate(text, MAX_TEXT_CHARACTERS)}`
  return { code: 'ModelRefused', message, step: number }
}

const AT_LIMIT = 'The response of the model reached the output limit'

function truncatedError(truncated: ModelStep[], step: number): ExecutionError {
  const tokens = truncated.map((each) => responseUsageOf(each).outputTokens).join(' and then ')
  const message =
    truncated.at(-1)?.stopReason === 'context-window'
      ? 'The conversation and the response fill the context window of the model.'
      : `${AT_LIMIT} (${tokens} tokens). The document of the agent can set it: model.maxOutputTokens.`
  return { code: 'ModelTruncated', message, step }
}

type Checks = Pick<Params, 'hasTools' | 'checkOutput'>

function schemaMismatch(history: History, { hasTools, checkOutput }: Checks): ExecutionError {
  const { invalidAnswers } = history
  const last = invalidAnswers.at(-1)
  const answer = last && answerOf(last.step)
  return {
    code: 'OutputSchemaMismatch',
    message: describe(history, hasTools),
    ...(answer !== undefined && { errors: checkOutput(answer) }),
    step: last?.step.number,
  }
}

function answerOf(step: ModelStep): Json | undefined {
  if (!isText(step)) return step.calls.find(isFinalAnswer)?.input
  const parsed = parseText(step.text)
  return 'value' in parsed ? parsed.value : undefined
}

function describe({ invalidAnswers, hasCalled }: History, hasTools: boolean): string {
  const count = invalidAnswers.length
  if (!hasTools || !invalidAnswers.every(({ step }) => isText(step)))
    return `The model returned ${count} results; none matches the output schema.`
  const summary = `The model answered in text ${count} times and never called ${FINAL_ANSWER}`
  return hasCalled ? `${summary}.` : `${summary}; the server or its chat template may not support tools.`
}
