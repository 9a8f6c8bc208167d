import type { Json } from '../../core/json.ts'
import { isTruncated, type Model } from '../../core/model.ts'
import type { ModelStep, RecordedStep } from '../../core/step.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import { answerReminder } from './answer-mode.ts'
import { isInvalidAnswer, isText } from './final-answer.ts'
import { RepeatedCalls } from './repeated-calls.ts'

export type RecordedModelStep = RecordedStep & { step: ModelStep }

/** What the steps of a run mean for its next request. Each step is added once, after its tool results are recorded. */
export class History {
  readonly messages: Json[]
  readonly invalidAnswers: RecordedModelStep[] = []
  /** Truncated responses since the last complete one. They are not part of the messages: the same request is sent again. */
  truncated: ModelStep[] = []
  hasAnsweredInText = false
  hasCalledTools = false
  private readonly repeatedCalls = new RepeatedCalls()
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
      return result ? [{ call, result: this.repeatedCalls.annotate(call, result) }] : []
    })
    return model.toolMessage(answered)
  }
}
