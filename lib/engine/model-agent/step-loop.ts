import type { Version } from '../../core/agent.ts'
import type { Execution, ExecutionError, Outcome } from '../../core/execution.ts'
import type { Example } from '../../core/learning.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { MAX_PARALLEL_TOOL_CALLS } from '../../core/limits.ts'
import { type Model, ModelError, type ModelRequest, type ToolCall } from '../../core/model.ts'
import type { System } from '../../core/ports.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import type { Tools } from '../../tools/open-tools.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { type RetryPolicy, retryableError } from '../checkpoints/stop-reason.ts'
import { isoNow } from '../engine.ts'
import { inputMessage } from '../learning/prompt.ts'
import { callKeyOf } from './call-key.ts'
import {
  answerInstructions,
  checkAnswer,
  chooseAnswerMode,
  finalAnswerTool,
  isFinalAnswer,
  outputOf,
} from './final-answer.ts'
import { findFailure, toRequestFailure } from './find-failure.ts'
import { History, type RecordedModelStep } from './history.ts'
import { respondWithRetry } from './respond-with-retry.ts'
import type { RunBudget } from './run-budget.ts'

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
  times: LeaseTimes
  /** When the run or its worker has to stop, in milliseconds since the epoch. */
  endsAt: number
}

/**
 * The step loop: execute the tool calls of the last response, check whether it contains the output, request the next
 * response. All decisions derive from the journal, so that another worker can continue between any two writes. Each
 * step is processed once: a step costs the same in a long run as in a short one.
 * @throws AttemptStopped
 */
export async function runStepLoop(params: Params): Promise<Outcome> {
  const { journal, checkOutput, execution, model, tools, retry } = params
  journal.model = model.name
  const steps = journal.recorded as RecordedModelStep[]
  const history = new History(model, checkOutput, inputMessage(execution.input, params.examples))
  const hasTools = tools.declarations.length > 0 || !model.answerModes.includes('json')
  const { maxAgentSteps } = execution.options
  const fail = (error: ExecutionError): Outcome => ({ status: 'ERROR', error, ...journal.progress })
  for (const recorded of steps.slice(0, -1)) history.add(recorded)
  for (;;) {
    const last = steps.at(-1)
    if (last) {
      const output = outputOf(last.step, checkOutput)
      if (output) return { status: 'SUCCESS', output, ...journal.progress }
      await executeCalls(last, params)
      history.add(last)
    }
    const error = findFailure({ history, steps, maxAgentSteps, hasTools, checkOutput })
    if (error) return fail(error)
    const excess = await params.budget?.findExcess()
    if (excess) return fail({ ...excess, step: steps.length })
    journal.assertMayBegin()
    try {
      const isLastStep = steps.length + 1 === maxAgentSteps
      await journal.append(await nextStep(params, toRequest(params, history, isLastStep)))
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      const executionError = toRequestFailure(error, history, steps.length + 1)
      if (error.isTransient && retry.mode === 'requeue')
        throw retryableError(executionError, error.retryAfterMs)
      return fail(executionError)
    }
  }
}

function toRequest(params: Params, history: History, isLastStep: boolean): ModelRequest {
  const { version, model, tools, signal } = params
  const { messages, hasAnsweredInText, truncated } = history
  const hasTools = tools.declarations.length > 0
  const answerMode = chooseAnswerMode(model, { hasTools, hasAnsweredInText, isLastStep })
  const declarations = answerMode === 'json' ? [] : tools.declarations
  const truncatedAfter = truncated.at(-1)?.usage.outputTokens
  return {
    instructions: [version.instructions, answerInstructions(answerMode, version.outputSchema)].join('\n\n'),
    messages,
    tools: [...declarations, finalAnswerTool(version.outputSchema)],
    answerMode,
    ...(truncatedAfter !== undefined && { truncatedAfter }),
    signal,
  }
}

async function nextStep(params: Params, request: ModelRequest) {
  const startedAt = isoNow(params.system)
  const hasAlternative = params.retry.mode === 'requeue'
  const { toolCalls, ...response } = await respondWithRetry(params.model, request, {
    ...params,
    hasAlternative,
  })
  return {
    ...response,
    kind: 'MODEL' as const,
    calls: toolCalls,
    startedAt,
    finishedAt: isoNow(params.system),
  }
}

/**
 * Executes the calls without a stored result, in order and a limited number at a time; stores each result as soon as it
 * is available. When one cannot be completed, no other begins, and those in progress end first: their results are kept.
 * @throws AttemptStopped, Unavailable
 */
async function executeCalls(recorded: RecordedModelStep, params: Params): Promise<void> {
  const { version, journal } = params
  const { step, results } = recorded
  const pending = step.calls.filter((call) => call.error === null && !results.has(call.id))
  const { maxParallelToolCalls = MAX_PARALLEL_TOOL_CALLS.default } = version.execution
  let isStopped = false
  const executeInTurn = async () => {
    for (let isFirst = true; !isStopped; isFirst = false) {
      const call = pending.shift()
      if (!call) return
      if (!isFirst) journal.assertMayBegin()
      await executeCall(call, recorded, params)
    }
  }
  const lanes = Array.from({ length: Math.min(maxParallelToolCalls, pending.length) }, () =>
    executeInTurn().catch((error: unknown) => {
      isStopped = true
      throw error
    }),
  )
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

async function executeCall(call: ToolCall, recorded: RecordedModelStep, params: Params): Promise<void> {
  const { journal, tools, checkOutput, execution, system, signal } = params
  const startedAt = isoNow(system)
  const idempotencyKey = callKeyOf(execution, recorded.step, call)
  const result = isFinalAnswer(call)
    ? checkAnswer(call, checkOutput)
    : await tools.call(call, { idempotencyKey, signal })
  await journal.appendResult(recorded, { callId: call.id, result, startedAt, finishedAt: isoNow(system) })
}
