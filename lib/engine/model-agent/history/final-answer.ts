import { isJsonObject, type JsonObject } from '../../../core/json/json.ts'
import {
  type AnswerMode,
  FINAL_ANSWER,
  isRefused,
  isTextMode,
  isTruncated,
  type Model,
  type ToolCall,
  type ToolDeclaration,
  type ToolResult,
} from '../../../core/model.ts'
import { type ModelStep, type RecordedModelStep, responseUsageOf } from '../../../core/step.ts'
import { toJsonSchema } from '../../../schema/field-map.ts'
import type { Validator } from '../../../schema/validate/validate.ts'
import { parseText } from './answer-text.ts'

/** The tool through which a model returns its output; its input schema is the agent's output schema. */
export function finalAnswerTool(outputSchema: JsonObject): ToolDeclaration {
  return {
    name: FINAL_ANSWER,
    description: 'Returns the final result. Call it once, after everything else is done.',
    inputSchema: toJsonSchema(outputSchema),
  }
}

export const isFinalAnswer = (call: ToolCall): boolean => call.name === FINAL_ANSWER && call.error === null

/** The tool result for an answer that does not end the run: its schema violations, or the failed calls beside it. */
export function rejectAnswer(
  call: ToolCall,
  { step, results }: RecordedModelStep,
  check: Validator,
): ToolResult {
  const violations = check(call.input)
  if (violations.length === 0) {
    const names = failedCalls({ step, results }).map(({ name }) => name)
    const reason = `these calls in the same response failed: ${[...new Set(names)].join(', ')}`
    return { ok: false, error: `The result was not accepted because ${reason}. ${CALL_AGAIN}` }
  }
  const list = violations.map(({ message }) => `- ${message}`).join('\n')
  return {
    ok: false,
    error: `The result does not match the output schema. Correct it and call ${FINAL_ANSWER} again.\n${list}`,
  }
}

const CALL_AGAIN = `Read their errors, then call ${FINAL_ANSWER} again, alone.`

/** The other calls of a response, which are executed before its answer is accepted. */
const otherCalls = ({ calls }: ModelStep): ToolCall[] => calls.filter((call) => call.name !== FINAL_ANSWER)

const failedCalls = ({ step, results }: RecordedModelStep): ToolCall[] =>
  otherCalls(step).filter(({ id, error }) => error !== null || !results.get(id)?.result.ok)

/** Whether a response calls a tool of the agent, or has the provider search the web for it. */
export const usesTools = (step: ModelStep): boolean =>
  otherCalls(step).some(({ error }) => error === null) || (responseUsageOf(step).webSearches ?? 0) > 0

/** The output of a step whose calls were executed: its answer, unless a call beside it failed. */
export function outputOf(recorded: RecordedModelStep, check: Validator): JsonObject | null {
  return failedCalls(recorded).length === 0 ? answerOf(recorded.step, check) : null
}

/** The answer of a step: from the final-answer tool, or from a text whose JSON value is valid. */
function answerOf(step: ModelStep, check: Validator): JsonObject | null {
  if (isTruncated(step.stopReason) || isRefused(step.stopReason) || step.isPaused) return null
  const isValid = (value: unknown): value is JsonObject => isJsonObject(value) && check(value).length === 0
  const answer = step.calls.find((call) => isFinalAnswer(call) && isValid(call.input))
  if (answer) return answer.input as JsonObject
  if (step.calls.length > 0) return null
  const parsed = parseText(step.text)
  return 'value' in parsed && isValid(parsed.value) ? parsed.value : null
}

/** Whether a step attempted to return the output but failed. */
export function isInvalidAnswer(step: ModelStep, check: Validator): boolean {
  if (isTruncated(step.stopReason)) return false
  const isAttempt = isText(step) || step.calls.some(({ name }) => name === FINAL_ANSWER)
  return isAttempt && answerOf(step, check) === null
}

/** Whether a step has nothing but text, and is complete. */
export const isText = (step: ModelStep): boolean => step.calls.length === 0 && !step.isPaused

/** Responses in a row with nothing but text, after which no tool is offered. */
const MAX_TEXTS = 2

type Situation = {
  hasTools: boolean
  /** How many of the last responses had nothing but text, which was no result. */
  texts: number
  /** Whether no further step is allowed. */
  isLastStep: boolean
}

/**
 * How the next response is asked for the output. A model that supports `json` is never forced to call a tool, and is
 * reminded only once to make a call: its server may not support tools, and then drops them silently.
 */
export function chooseAnswerMode(
  { answerModes }: Pick<Model, 'answerModes'>,
  situation: Situation,
): AnswerMode {
  const { hasTools, texts, isLastStep } = situation
  if (!hasTools && answerModes.includes('structured')) return 'structured'
  if (answerModes.includes('json')) return !hasTools || texts >= MAX_TEXTS || isLastStep ? 'json' : 'tool'
  return (isLastStep || !hasTools) && answerModes.includes('forced-tool') ? 'forced-tool' : 'tool'
}

const USE_TOOL = `Return the result by calling the tool ${FINAL_ANSWER}; a text response is not a result.`
const USE_JSON = 'Return the result as one JSON object, without any other text'

/** The end of the instructions. */
export function answerInstructions(mode: AnswerMode, outputSchema: JsonObject): string {
  if (!isTextMode(mode)) return USE_TOOL
  if (mode === 'structured') return `${USE_JSON}.`
  return `${USE_JSON}. It must match this JSON Schema:\n${JSON.stringify(toJsonSchema(outputSchema))}`
}

const CALL_TOOL = `Text is not a result. Call a tool, or return the result by calling ${FINAL_ANSWER}.`

/** Responds to a text that is not a result. `mode`: of the next request. */
export function answerReminder(
  mode: AnswerMode,
  text: string,
  { hasTools, check }: { hasTools: boolean; check: Validator },
): string {
  if (!isTextMode(mode)) return hasTools ? CALL_TOOL : USE_TOOL
  const parsed = parseText(text)
  if ('problem' in parsed) return `The text ${parsed.problem}. ${USE_JSON}.`
  const violations = check(parsed.value).map(({ message }) => `- ${message}`)
  return [`The result does not match the output schema. ${USE_JSON}.`, ...violations].join('\n')
}
