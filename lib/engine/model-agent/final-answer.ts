import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import {
  FINAL_ANSWER,
  isRefused,
  isTruncated,
  type ToolCall,
  type ToolDeclaration,
  type ToolResult,
} from '../../core/model.ts'
import { JsonError, parseModelJson } from '../../core/parse-json.ts'
import type { ModelStep } from '../../core/step.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import type { Validator } from '../../schema/validate/validate.ts'

/** The tool through which a model returns its output; its input schema is the agent's output schema. */
export function finalAnswerTool(outputSchema: JsonObject): ToolDeclaration {
  return {
    name: FINAL_ANSWER,
    description: 'Returns the final result. Call it once, after everything else is done.',
    inputSchema: toJsonSchema(outputSchema),
  }
}

export const isFinalAnswer = (call: ToolCall): boolean => call.name === FINAL_ANSWER && call.error === null

/** The tool result for the model's answer: accepted, or a list of schema violations. */
export function checkAnswer(call: ToolCall, check: Validator): ToolResult {
  const violations = check(call.input)
  if (violations.length === 0) return { ok: true, value: 'accepted' }
  const list = violations.map(({ message }) => `- ${message}`).join('\n')
  return {
    ok: false,
    error: `The result does not match the output schema. Correct it and call ${FINAL_ANSWER} again.\n${list}`,
  }
}

/** The output of a step: from the final-answer tool, or from a text that is valid JSON and nothing else. */
export function outputOf(step: ModelStep, check: Validator): JsonObject | null {
  if (isTruncated(step.stopReason) || isRefused(step.stopReason)) return null
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
  return isAttempt && outputOf(step, check) === null
}

/** Whether a step has nothing but text. */
export const isText = (step: ModelStep): boolean => step.calls.length === 0

const FENCE = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/

/** The JSON value of a text that contains nothing else, or a predicate that says why there is none. */
export function parseText(text: string): { value: Json } | { problem: string } {
  try {
    return { value: parseModelJson(FENCE.exec(text.trim())?.[1] ?? text) }
  } catch (error) {
    if (error instanceof JsonError) return { problem: error.message }
    throw error
  }
}
