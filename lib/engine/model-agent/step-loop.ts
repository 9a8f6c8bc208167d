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
import type { RetryPolicy } from '../checkpoints/retry-policy.ts'
import { retryableError } from '../checkpoints/stop-reason.ts'
import { isoNow } from '../engine.ts'
import { examplesPrompt } from '../learning/prompt.ts'
import { callKeyOf } from './call-key.ts'
import {
  checkAnswer,
  finalAnswerTool,
  isFinalAnswer,
  isInvalidAnswer,
  outputOf,
  REMINDER,
} from './final-answer.ts'
import { respondWithRetry } from './respond-with-retry.ts'
import type { RunBudget } from './run-budget.ts'

/** Additional steps in which a model may correct an invalid answer. */
const MAX_REPAIRS = 2

type Params = {
  execution: Execution
  version: Version
  model: Model
  tools: Pick<Tools, 'declarations' | 'call'>
  journal: Journal
  /** Null for a run without a limit. */
  budget: Pick<RunBudget, 'findExcess'> | null
  /** Shown to the model; empty without dynamic learning. */
  examples: Example[]
  checkOutput: Validator
  system: System
  signal: AbortSignal
  retry: RetryPolicy
  /** First delay of a retry of a model request. */
  retryDelayMs: number
}

type Recorded = RecordedStep & { step: ModelStep }

/**
 * The step loop: execute the tool calls of the last response, check whether it contains the output, request the next
 * response. All decisions derive from the journal, so that another worker can continue between any two writes. Each
 * step is processed once: a step costs the same in a long run as in a short one.
 * @throws AttemptStopped
 */
export async function runStepLoop(params: Params): Promise<Outcome> {
  const { journal, checkOutput, execution, model, retry } = params
  journal.model = model.name
  const steps = journal.recorded as Recorded[]
  const request = firstRequest(params)
  const invalidAnswers: Recorded[] = []
  const addToHistory = (recorded: Recorded) => {
    if (isInvalidAnswer(recorded.step, checkOutput)) invalidAnswers.push(recorded)
    request.messages.push(...messagesOf(recorded, model))
  }
  const fail = (error: ExecutionError): Outcome => ({ status: 'ERROR', error, ...journal.progress })
  for (const recorded of steps.slice(0, -1)) addToHistory(recorded)
  for (;;) {
    const last = steps.at(-1)
    if (last) {
      const output = outputOf(last.step, checkOutput)
      if (output) return { status: 'SUCCESS', output, ...journal.progress }
      await executeCalls(last, params)
      addToHistory(last)
    }
    if (invalidAnswers.length > MAX_REPAIRS) return fail(schemaMismatch(invalidAnswers, checkOutput))
    const { maxAgentSteps } = execution.options
    if (steps.length >= maxAgentSteps) {
      const message = `The run used all ${maxAgentSteps} steps (maxAgentSteps) without a result.`
      return fail({ code: 'MaxAgentStepsExceeded', message, step: steps.length })
    }
    const excess = await params.budget?.findExcess()
    if (excess) return fail({ ...excess, step: steps.length })
    journal.assertMayBegin()
    try {
      await journal.append(await nextStep(params, request))
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      const code = error.isTransient ? 'ModelUnavailable' : 'ModelFailed'
      const executionError = { code, message: error.message, step: steps.length + 1 }
      if (error.isTransient && retry.mode === 'requeue')
        throw retryableError(executionError, error.retryAfterMs)
      return fail(executionError)
    }
  }
}

/** The request of the first step; each step appends its messages. */
function firstRequest({ version, execution, model, tools, examples, signal }: Params): ModelRequest {
  return {
    instructions: [version.instructions, ...examplesPrompt(examples), REMINDER].join('\n\n'),
    messages: [model.userMessage(JSON.stringify(execution.input))],
    tools: [...tools.declarations, finalAnswerTool(version.outputSchema)],
    signal,
  }
}

/** A step as history: the model's own response and its tool results. */
function messagesOf({ step, results }: Recorded, model: Model): Json[] {
  if (step.calls.length === 0) return [...step.messages, model.userMessage(REMINDER)]
  const answered = step.calls.flatMap((call) => {
    const result = results.get(call.id)?.result
    return result ? [{ call, result }] : []
  })
  return [...step.messages, model.toolMessage(answered)]
}

async function nextStep({ model, system, retry, retryDelayMs }: Params, request: ModelRequest) {
  const startedAt = isoNow(system)
  const { messages, text, toolCalls, usage } = await respondWithRetry(model, request, {
    mode: retry.mode,
    retryDelayMs,
  })
  return {
    kind: 'MODEL' as const,
    startedAt,
    finishedAt: isoNow(system),
    text,
    calls: toolCalls,
    messages,
    usage,
  }
}

/** Executes, in parallel, the calls without a stored result; stores each result as soon as it is available. */
async function executeCalls(recorded: Recorded, params: Params): Promise<void> {
  const { journal, tools, checkOutput, execution, system, signal } = params
  const { step, results } = recorded
  const pending = step.calls.filter((call) => call.error === null && !results.has(call.id))
  await Promise.all(
    pending.map(async (call) => {
      const startedAt = isoNow(system)
      const idempotencyKey = callKeyOf(execution, step, call)
      const result = isFinalAnswer(call)
        ? checkAnswer(call, checkOutput)
        : await tools.call(call, { idempotencyKey, signal })
      await journal.appendResult(recorded, { callId: call.id, result, startedAt, finishedAt: isoNow(system) })
    }),
  )
}

function schemaMismatch(invalidAnswers: Recorded[], check: Validator): ExecutionError {
  const last = invalidAnswers.at(-1)
  const answer = last?.step.calls.find(isFinalAnswer)
  return {
    code: 'OutputSchemaMismatch',
    message: `The model returned ${invalidAnswers.length} results; none matches the output schema.`,
    ...(answer && { errors: check(answer.input) }),
    step: last?.step.number,
  }
}
