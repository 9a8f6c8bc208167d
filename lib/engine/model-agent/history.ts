import type { Json } from '../../core/json/json.ts'
import { isTruncated, type Model, type ToolCall, type ToolResult } from '../../core/model.ts'
import type { ModelStep, RecordedStep } from '../../core/step.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import { answerReminder, isInvalidAnswer, isText } from './final-answer.ts'

export type RecordedModelStep = RecordedStep & { step: ModelStep }

/** What the steps of a run mean for its next request. Each step is added once, after its tool results are recorded. */
export class History {
  readonly messages: Json[]
  readonly invalidAnswers: RecordedModelStep[] = []
  /** Truncated responses since the last complete one. Messages do not contain them: the request is sent again. */
  truncated: ModelStep[] = []
  hasAnsweredInText = false
  hasCalledTools = false
  private readonly noteRepetition = repetitionNotes()
  private readonly model: Model
  private readonly checkOutput: Validator

  /** @param input the text of the first message */
  constructor(model: Model, checkOutput: Validator, input: string) {
    this.model = model
    this.checkOutput = checkOutput
    this.messages = [model.userMessage(input)]
  }

  add(recorded: RecordedModelStep): void {
    const { step } = recorded
    if (isTruncated(step.stopReason)) {
      this.truncated.push(step)
      return
    }
    this.truncated = []
    this.hasAnsweredInText = isText(step)
    this.hasCalledTools ||= !this.hasAnsweredInText
    if (isInvalidAnswer(step, this.checkOutput)) this.invalidAnswers.push(recorded)
    this.messages.push(...step.messages, this.replyTo(recorded))
  }

  /** The tool results of a response, or a reminder. */
  private replyTo({ step, results }: RecordedModelStep): Json {
    const { model, checkOutput } = this
    if (isText(step)) return model.userMessage(answerReminder(model, step.text, checkOutput))
    const answered = step.calls.flatMap((call) => {
      const result = results.get(call.id)?.result
      return result ? [{ call, result: this.noteRepetition(call, result) }] : []
    })
    return model.toolMessage(answered)
  }
}

/** Identical calls in a row after which the model is told. */
const MAX_IDENTICAL_CALLS = 5

/**
 * Tells a model that it repeats a call, as small ones do. The call is executed all the same: it may be polling.
 * @returns the result of the next call as the model sees it
 */
function repetitionNotes() {
  let last = ''
  let count = 0
  return ({ name, input }: ToolCall, result: ToolResult): ToolResult => {
    const key = `${name} ${JSON.stringify(input)}`
    count = key === last ? count + 1 : 1
    last = key
    if (count < MAX_IDENTICAL_CALLS) return result
    const note = `\n\nThis was call ${count} in a row of ${name} with the same input. Use its result, call another tool or return the final result.`
    if (!result.ok) return { ok: false, error: result.error + note }
    const { value } = result
    return { ok: true, value: (typeof value === 'string' ? value : JSON.stringify(value)) + note }
  }
}
