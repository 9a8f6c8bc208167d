import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { FINAL_ANSWER, type ToolCall, type ToolDeclaration, type ToolResult } from '../../core/model.ts'
import type { ModelStep } from '../../core/step.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import type { Validator } from '../../schema/validate/validate.ts'

/** What a model is told when it stops without an answer that fits. */
export const REMINDER = `Give the result by calling the tool ${FINAL_ANSWER}; text alone does not count.`

/** The tool through which a model gives its output; its input is the agent's output schema. */
export function finalAnswerTool(outputSchema: JsonObject): ToolDeclaration {
  return {
    name: FINAL_ANSWER,
    description: 'Gives the final result. Call it once, when everything else is done.',
    inputSchema: toJsonSchema(outputSchema),
  }
}

export const isFinalAnswer = (call: ToolCall): boolean => call.name === FINAL_ANSWER && call.error === null

/** What the model is told of its answer. */
export function judgeAnswer(call: ToolCall, check: Validator): ToolResult {
  const violations = check(call.input)
  if (violations.length === 0) return { ok: true, value: 'accepted' }
  const list = violations.map(({ message }) => `- ${message}`).join('\n')
  return {
    ok: false,
    error: `The result does not match its schema. Mend it and call ${FINAL_ANSWER} again.\n${list}`,
  }
}

/** The output that a step gives: by the tool, or as a text that is nothing but JSON that fits. */
export function outputOf(step: ModelStep, check: Validator): JsonObject | null {
  const fits = (value: unknown): value is JsonObject => isJsonObject(value) && check(value).length === 0
  const answer = step.calls.find((call) => isFinalAnswer(call) && fits(call.input))
  if (answer) return answer.input as JsonObject
  if (step.calls.length > 0) return null
  const value = parsed(step.text)
  return fits(value) ? value : null
}

/** Whether a step tried to give the output, and did not. */
export function isBadAnswer(step: ModelStep, check: Validator): boolean {
  const isAttempt = step.calls.length === 0 || step.calls.some(({ name }) => name === FINAL_ANSWER)
  return isAttempt && outputOf(step, check) === null
}

const FENCE = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/

function parsed(text: string): unknown {
  try {
    return JSON.parse(FENCE.exec(text.trim())?.[1] ?? text)
  } catch {
    return undefined
  }
}
