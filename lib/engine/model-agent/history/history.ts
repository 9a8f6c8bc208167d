import {
  type AnswerMode,
  type InputFile,
  isTruncated,
  type Model,
  type ToolCall,
  type ToolResult,
} from '../../../core/model.ts'
import { type ModelStep, type RecordedModelStep, responseUsageOf, type StepCall } from '../../../core/step.ts'
import { toPortable, toPortableId } from '../../../models/requests/to-prompt.ts'
import type { Validator } from '../../../schema/validate/validate.ts'
import { describeDecision, storedDecision } from '../../waiting/approvals.ts'
import { Context, sizeOf } from './context.ts'
import { delimitResult, textOf, withText } from './delimit-result.ts'
import { answerReminder, chooseAnswerMode, isInvalidAnswer, isText, usesTools } from './final-answer.ts'

type Params = {
  model: Model
  checkOutput: Validator
  /** The text of the first message, which the files follow. */
  input: string
  files: readonly InputFile[]
  /** Whether the agent has tools. */
  hasTools: boolean
  maxAgentSteps: number
  /** Of the latest tool results, how many are never cleared. */
  keptResults?: number | undefined
}

/** What the steps of a run mean for its next request. Each step is added once, after its tool results are recorded. */
export class History {
  readonly context: Context
  readonly invalidAnswers: RecordedModelStep[] = []
  /** Truncated responses since the last complete one. Messages do not contain them: the request is sent again. */
  truncated: ModelStep[] = []
  /** Whether the model has called anything, final_answer included. */
  hasCalled = false
  /** Whether the model has called a tool of the agent. */
  hasUsedTools = false
  /** Whether the conversation fills the context window, and nothing of it can be cleared. */
  isFull = false
  /** Of the last responses, how many had nothing but text. */
  private texts = 0
  private steps = 0
  private readonly noteRepetition = repetitionNotes()
  private readonly params: Params

  constructor(params: Params) {
    this.params = params
    this.context = new Context(params.model, params.keptResults)
    this.context.push(params.model.userMessage(params.input, params.files))
  }

  /** How the next response is asked for the output. */
  get answerMode(): AnswerMode {
    const { model, hasTools, maxAgentSteps } = this.params
    const isLastStep = this.steps + 1 >= maxAgentSteps
    return chooseAnswerMode(model, { hasTools, texts: this.texts, isLastStep })
  }

  add(recorded: RecordedModelStep): void {
    const { step } = recorded
    const hasUsed = usesTools(step)
    this.steps++
    this.context.clearTo(step.clearedResults ?? 0)
    this.context.count(responseUsageOf(step).inputTokens)
    if (isTruncated(step.stopReason)) {
      this.truncated.push(step)
      if (step.stopReason === 'context-window') this.isFull = !this.context.clearAll()
      return
    }
    this.truncated = []
    this.texts = isText(step) ? this.texts + 1 : 0
    this.hasCalled ||= this.texts === 0
    this.hasUsedTools ||= hasUsed
    if (isInvalidAnswer(step, this.params.checkOutput)) this.invalidAnswers.push(recorded)
    this.context.push(...(this.isForeign(step) ? toPortable(step.messages) : step.messages))
    this.reply(recorded)
  }

  /** Whether another model has responded. */
  private isForeign({ model = this.params.model.name }: ModelStep): boolean {
    return model !== this.params.model.name
  }

  /** With the tool results of a response, or a reminder. */
  private reply({ step, results }: RecordedModelStep): void {
    const { model, checkOutput: check, hasTools } = this.params
    if (isText(step)) {
      const reminder = answerReminder(this.answerMode, step.text, { hasTools, check })
      this.context.push(model.userMessage(reminder))
      return
    }
    const answered = step.calls.flatMap((call) => {
      const result = results.get(call.id)?.result
      if (!result) return []
      const id = this.isForeign(step) ? toPortableId(call.id) : call.id
      return [
        {
          call: { ...call, id },
          result: this.noteRepetition(call, asSeen(call, result, results)),
          bytes: sizeOf(result),
        },
      ]
    })
    this.context.pushResults(answered)
  }
}

/** What an approver said is no data from outside: it stands before the delimiters, or instead of them. */
function asSeen(call: StepCall, result: ToolResult, results: RecordedModelStep['results']): ToolResult {
  const decision = call.approval && storedDecision({ results }, call.approval.id)
  const text = decision && describeDecision(decision)
  if (text && decision.decision !== 'approve') return result
  const delimited = delimitResult(call, result)
  return text ? withText(delimited, `${text}\n\n${textOf(delimited)}`) : delimited
}

/** Identical calls in a row after which the model is told, and repetitions of a longer cycle. */
const MAX_REPETITIONS = { call: 5, cycle: 3 }
/** Calls of the longest cycle that is noticed: A, B, A, B has two. */
const MAX_CYCLE = 4

/**
 * Tells a model that it repeats calls, as small ones do. The calls are executed all the same: it may be polling.
 * @returns the result of the next call as the model sees it
 */
function repetitionNotes() {
  /** Of the last calls, the latest first. */
  const keys: string[] = []
  /** For each length of a cycle, how many of the last calls were the same as the one so many calls before. */
  const repeated = Array<number>(MAX_CYCLE).fill(0)
  return (call: ToolCall, result: ToolResult): ToolResult => {
    const key = `${call.name} ${JSON.stringify(call.input)}`
    for (const [index, count] of repeated.entries()) repeated[index] = key === keys[index] ? count + 1 : 0
    keys.unshift(key)
    keys.splice(MAX_CYCLE)
    const note = describe(call, repeated)
    if (!note) return result
    const advice = 'Use its result, call another tool or return the final result.'
    return withText(result, `${textOf(result)}\n\n${note} ${advice}`)
  }
}

function describe({ name }: ToolCall, [identical = 0, ...cycles]: number[]): string | null {
  if (identical + 1 >= MAX_REPETITIONS.call)
    return `This was call ${identical + 1} in a row of ${name} with the same input.`
  const index = cycles.findIndex((count, at) => count / (at + 2) + 1 >= MAX_REPETITIONS.cycle)
  if (index < 0) return null
  const length = index + 2
  return `This call of ${name} is one of ${length} that were made ${Math.floor((cycles[index] ?? 0) / length) + 1} times in turn.`
}
