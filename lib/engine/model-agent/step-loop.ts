import type { Version } from '../../core/agent.ts'
import type { Execution, ExecutionError, Outcome } from '../../core/execution.ts'
import type { Json } from '../../core/json.ts'
import type { Example } from '../../core/learning.ts'
import { type Model, ModelError, type ModelRequest } from '../../core/model.ts'
import type { System } from '../../core/ports.ts'
import type { ModelStep, RecordedStep } from '../../core/step.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import type { Tools } from '../../tools/open-tools.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { RetryableError } from '../checkpoints/stop-reason.ts'
import { examplesPrompt } from '../learning/prompt.ts'
import {
  finalAnswerTool,
  isBadAnswer,
  isFinalAnswer,
  judgeAnswer,
  outputOf,
  REMINDER,
} from './final-answer.ts'
import { respondWithRetry } from './respond-with-retry.ts'

/** Steps in which a model may mend an answer that does not fit. */
const MAX_REPAIRS = 2

type Params = {
  execution: Execution
  version: Version
  model: Model
  tools: Pick<Tools, 'declarations' | 'call'>
  journal: Journal
  /** What the model is shown to learn from; empty when the run does not learn. */
  examples: Example[]
  checkOutput: Validator
  system: System
  signal: AbortSignal
  /** Whether the run may be given back, to go on when a fault has passed. */
  comesBack: boolean
  /** The wait after a passing fault of the model, here and now. */
  firstWaitMs: number
}

type Recorded = RecordedStep & { step: ModelStep }

/**
 * The step loop: answer the calls of the last response, see whether it gives the output, ask for the next. Everything
 * is decided from the journal, so that another worker can go on between any two writes. Each step is looked at when it
 * is the last, and not again: a run of many steps costs as much a step as one of few.
 * @throws LeaseLost, WorkerLeaves, and RetryableError when the run comes back
 */
export async function runModelAgent(params: Params): Promise<Outcome> {
  const { journal, checkOutput, execution, model, comesBack } = params
  journal.model = model.name
  const steps = journal.recorded as Recorded[]
  const request = firstRequest(params)
  const attempts: Recorded[] = []
  const lookBackOn = (recorded: Recorded) => {
    if (isBadAnswer(recorded.step, checkOutput)) attempts.push(recorded)
    request.messages.push(...messagesOf(recorded, model))
  }
  const ended = (error: ExecutionError): Outcome => ({ status: 'ERROR', error, ...journal.progress })
  for (const recorded of steps.slice(0, -1)) lookBackOn(recorded)
  for (;;) {
    const last = steps.at(-1)
    if (last) {
      const output = outputOf(last.step, checkOutput)
      if (output) return { status: 'SUCCESS', output, ...journal.progress }
      await answerCalls(last, params)
      lookBackOn(last)
    }
    if (attempts.length > MAX_REPAIRS) return ended(mismatch(attempts, checkOutput))
    const { maxAgentSteps } = execution.options
    if (steps.length >= maxAgentSteps) {
      const message = `The run took its ${maxAgentSteps} steps (maxAgentSteps) without giving a result.`
      return ended({ code: 'MaxAgentStepsExceeded', message, step: steps.length })
    }
    journal.mayBegin()
    try {
      await journal.append(await nextStep(params, request))
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      const code = error.isTransient ? 'ModelUnavailable' : 'ModelFailed'
      const fault = { code, message: error.message, step: steps.length + 1 }
      if (error.isTransient && comesBack) throw new RetryableError(fault, error.retryAfterMs)
      return ended(fault)
    }
  }
}

/** What the model is asked before its first step; its messages grow with each. */
function firstRequest({ version, execution, model, tools, examples, signal }: Params): ModelRequest {
  return {
    instructions: [version.instructions, ...examplesPrompt(examples), REMINDER].join('\n\n'),
    messages: [model.userMessage(JSON.stringify(execution.input))],
    tools: [...tools.declarations, finalAnswerTool(version.outputSchema)],
    signal,
  }
}

/** What the model is sent of a step: its own response, with what came of its calls. */
function messagesOf({ step, results }: Recorded, model: Model): Json[] {
  if (step.calls.length === 0) return [...step.messages, model.userMessage(REMINDER)]
  const answered = step.calls.flatMap((call) => {
    const result = results.get(call.id)?.result
    return result ? [{ call, result }] : []
  })
  return [...step.messages, model.toolMessage(answered)]
}

async function nextStep({ model, system, comesBack, firstWaitMs }: Params, request: ModelRequest) {
  const startedAt = new Date(system.now()).toISOString()
  const { messages, text, toolCalls, usage } = await respondWithRetry(model, request, {
    comesBack,
    firstWaitMs,
  })
  const finishedAt = new Date(system.now()).toISOString()
  return { kind: 'MODEL' as const, startedAt, finishedAt, text, calls: toolCalls, messages, usage }
}

/** Carries out, in parallel, the calls that have no result yet; each result is stored as soon as it is there. */
async function answerCalls(recorded: Recorded, params: Params): Promise<void> {
  const { journal, tools, checkOutput, execution, system, signal } = params
  const { step, results } = recorded
  const open = step.calls.filter((call) => call.error === null && !results.has(call.id))
  await Promise.all(
    open.map(async (call) => {
      const startedAt = new Date(system.now()).toISOString()
      const idempotencyKey = `${execution.id}-${step.number}-${call.id}`
      const result = isFinalAnswer(call)
        ? judgeAnswer(call, checkOutput)
        : await tools.call(call, { idempotencyKey, signal })
      const finishedAt = new Date(system.now()).toISOString()
      await journal.appendResult(recorded, { callId: call.id, result, startedAt, finishedAt })
    }),
  )
}

function mismatch(attempts: Recorded[], check: Validator): ExecutionError {
  const last = attempts.at(-1)
  const answer = last?.step.calls.find(isFinalAnswer)
  return {
    code: 'OutputSchemaMismatch',
    message: `The model gave ${attempts.length} results, none of which matches the output schema.`,
    ...(answer && { errors: check(answer.input) }),
    step: last?.step.number,
  }
}
