import type { JsonObject } from '../../core/json.ts'
import { type AnswerMode, FINAL_ANSWER, type Model } from '../../core/model.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import { parseText } from './final-answer.ts'

type Situation = {
  hasTools: boolean
  /** Whether the last response had nothing but text, which was no result. */
  hasAnsweredInText: boolean
  /** Whether no further step is allowed. */
  isLastStep: boolean
}

/**
 * How the next response is asked for the output. A model that supports `json` is never forced to call a tool, and is not asked
 * again for a call that it did not make: its server may not support tools, and then drops them silently.
 */
export function chooseAnswerMode(
  { answerModes }: Pick<Model, 'answerModes'>,
  situation: Situation,
): AnswerMode {
  const { hasTools, hasAnsweredInText, isLastStep } = situation
  if (answerModes.includes('json')) return !hasTools || hasAnsweredInText || isLastStep ? 'json' : 'tool'
  return isLastStep && answerModes.includes('forced-tool') ? 'forced-tool' : 'tool'
}

const USE_TOOL = `Return the result by calling the tool ${FINAL_ANSWER}; a text response is not a result.`
const USE_JSON = 'Return the result as one JSON object, without any other text'

/** The end of the instructions. */
export function answerInstructions(mode: AnswerMode, outputSchema: JsonObject): string {
  if (mode !== 'json') return USE_TOOL
  return `${USE_JSON}. It must match this JSON Schema:\n${JSON.stringify(toJsonSchema(outputSchema))}`
}

/** Responds to a text that is no result. */
export function answerReminder(
  { answerModes }: Pick<Model, 'answerModes'>,
  text: string,
  check: Validator,
): string {
  if (!answerModes.includes('json')) return USE_TOOL
  const parsed = parseText(text)
  if ('problem' in parsed) return `The text ${parsed.problem}. ${USE_JSON}.`
  const violations = check(parsed.value).map(({ message }) => `- ${message}`)
  return [`The result does not match the output schema. ${USE_JSON}.`, ...violations].join('\n')
}
