import type { Version } from '../../core/agent.ts'
import type { Execution, Outcome } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Example } from '../../core/learning.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { MAX_OPEN_WAITS, MAX_PARALLEL_TOOL_CALLS } from '../../core/limits.ts'
import {
  type InputFile,
  isTextMode,
  type Model,
  ModelError,
  type ModelRequest,
  type ToolCall,
} from '../../core/model.ts'
import type { System } from '../../core/ports/system.ts'
import { type ModelStep, type RecordedModelStep, responseUsageOf, type StepCall } from '../../core/step.ts'
import type { Wait } from '../../core/wait.ts'
import { contextWindowOf, estimateInputTokens } from '../../models/estimate-tokens.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import { addDefaults } from '../../tools/add-defaults.ts'
import type { Tools } from '../../tools/open-tools.ts'
import { failed } from '../../tools/tool.ts'
import type { Journal, NewStep } from '../checkpoints/journal.ts'
import type { LiveResponse } from '../checkpoints/live-response.ts'
import { AttemptStopped, type RetryPolicy, retryableError } from '../checkpoints/stop-reason.ts'
import { isoNow } from '../engine.ts'
import { inputMessage } from '../learning/prompt.ts'
import type { RecordedRun } from '../replay/recorded-run.ts'
import { isSameRequest, toRequestKey } from '../request-key.ts'
import { describeDecision } from '../waiting/approvals.ts'
import { decisionOn, withApprovals } from '../waiting/call-approval.ts'
import { CallWaits } from '../waiting/call-waits.ts'
import { callKeyOf } from './call-key.ts'
import type { FallbackModels } from './fallback-models.ts'
import { RESULTS_ARE_DATA } from './history/delimit-result.ts'
import {
  answerInstructions,
  finalAnswerTool,
  isFinalAnswer,
  isText,
  outputOf,
  rejectAnswer,
  usesTools,
} from './history/final-answer.ts'
import {
  findFailure,
  TOOLS_NEVER_CALLED,
  toolsNeverCalled,
  toRequestFailure,
} from './history/find-failure.ts'
import { History } from './history/history.ts'
import { respondWithRetry } from './respond-with-retry.ts'
import { BudgetExceeded, type RunBudget } from './run-budget.ts'
import type { RunLimits } from './run-limits.ts'

type Params = {
  /** Its input describes the files. */
  execution: Execution
  files: readonly InputFile[]
  version: Version
  model: Model
  fallbacks: Pick<FallbackModels, 'find' | 'hasNext' | 'next' | 'reset' | 'use'>
  tools: Pick<Tools, 'declarations' | 'call'>
  /** The hash of the stored declarations of MCP tools; absent without any. */
  declarations?: string | undefined
  /** What a replay takes from its original; null for any other run. */
  original: RecordedRun | null
  journal: Journal
  /** Null for a run without a limit. */
  budget: Pick<RunBudget, 'checkRecorded' | 'limit'> | null
  /** Those of its tenant and its agent; null without any. */
  limits: RunLimits | null
  /** Shows the responses while they arrive. */
  live: Pick<LiveResponse, 'begin' | 'add' | 'fail'>
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
export async function runStepLoop(given: Params): Promise<Outcome> {
  const { journal, checkOutput, execution, version, tools, retry, fallbacks } = given
  let params = given
  const steps = journal.recorded as RecordedModelStep[]
  const { maxAgentSteps } = execution.options
  const isEquipped = tools.declarations.length > 0
  const input = inputMessage(execution.input, params.examples)
  /** Of all steps but the last. */
  const historyFor = (model: Model): History => {
    const { files } = params
    const keptResults = version.context?.keep
    const started = { model, checkOutput, input, files, hasTools: isEquipped, maxAgentSteps, keptResults }
    const history = new History(started)
    for (const recorded of steps.slice(0, -1)) history.add(recorded)
    return history
  }
  const historyWithLast = (model: Model): History => {
    const history = historyFor(model)
    const last = steps.at(-1)
    if (last) history.add(last)
    return history
  }
  let history = historyFor(params.model)
  journal.model = params.model.name
  const hasTools = isEquipped || !isTextMode(history.answerMode)
  /** The next step, if it comes from the original: on the model that answered there, which may be a fallback. */
  const takeRecorded = async (): Promise<NewStep | null> => {
    const { original, model } = params
    const { step, isFixed } = original?.next() ?? {}
    if (!original || !step) return null
    const answered = step.model === model.name ? model : await fallbacks.find(step.model)
    const its = answered && answered !== model ? historyWithLast(answered) : history
    if (!isFixed) {
      if (!answered || !step.request) return null
      // Also what a provider had found too long.
      const { cleared } = its.context
      its.context.clearTo(step.clearedResults ?? 0)
      const request = toRequest({ ...params, model: answered }, its)
      if (!isSameRequest(toRequestKey(answered.name, request), step.request)) {
        // The live request has what this one has cleared.
        if (its === history && (step.clearedResults ?? 0) > cleared) history = historyWithLast(model)
        return null
      }
      params.budget?.checkRecorded(request, answered)
    }
    if (answered) {
      params = { ...params, model: answered }
      history = its
      fallbacks.use(answered)
    }
    journal.model = step.model ?? params.model.name
    const finishedAt = isoNow(params.system)
    const calls = withRules(step.calls, { number: step.number, finishedAt }, params)
    return original.toStep({ ...step, calls }, finishedAt, answered)
  }
  const fail = (error: ExecutionError): Outcome => ({ status: 'ERROR', error, ...journal.progress })
  for (;;) {
    const last = steps.at(-1)
    if (last) {
      await executeCalls(last, params)
      const output = outputOf(last, checkOutput)
      if (output) return succeed(params, history, { step: last.step, output })
      history.add(last)
    }
    const error = findFailure({ history, steps, maxAgentSteps, hasTools, checkOutput })
    if (error) return fail(error)
    const givesUpTools = isEquipped && history.answerMode === 'json' && !history.hasUsedTools
    if (givesUpTools && version.requireTools) return fail(toolsNeverCalled(steps.length))
    journal.assertMayBegin()
    const end = given.original?.end
    if (end) return fail(end)
    const taken = await takeRecorded().catch((error: unknown) => {
      if (error instanceof BudgetExceeded) return error
      throw error
    })
    if (taken instanceof BudgetExceeded) return fail({ ...taken.error, step: steps.length })
    if (taken) {
      await journal.append(taken)
      continue
    }
    try {
      await journal.append(await nextStep(params, history, steps.length + 1))
      fallbacks.reset()
    } catch (error) {
      if (error instanceof BudgetExceeded) return fail({ ...error.error, step: steps.length })
      if (!(error instanceof ModelError)) throw error
      const next = error.isTransient ? await fallbacks.next() : null
      if (next) {
        params = { ...params, model: next }
        history = historyFor(next)
        journal.model = next.name
        continue
      }
      const executionError = toRequestFailure(error, history, steps.length + 1)
      if (error.isTransient && retry.mode === 'requeue')
        throw retryableError(executionError, error.retryAfterMs)
      return fail(executionError)
    }
  }
}

type Answer = { step: ModelStep; output: JsonObject }

/** An answer in text, without any call of a tool: the server may have dropped the tools, and the model invented it. */
function succeed(
  { journal, model, tools, version }: Params,
  history: History,
  { step, output }: Answer,
): Outcome {
  const isUnaided = tools.declarations.length > 0 && !history.hasUsedTools && !usesTools(step)
  if (isUnaided && version.requireTools)
    return { status: 'ERROR', error: toolsNeverCalled(step.number), ...journal.progress }
  const warnings = [
    ...(isUnaided && isText(step) ? [TOOLS_NEVER_CALLED] : []),
    ...(model.ignoredSettings?.includes('temperature') ? ['TemperatureIgnored'] : []),
  ]
  return { status: 'SUCCESS', output, ...journal.progress, ...(warnings.length > 0 && { warnings }) }
}

function toRequest(params: Params, history: History): ModelRequest {
  const { version, model, tools, signal } = params
  const { context, answerMode, truncated } = history
  const declarations = answerMode === 'json' ? [] : tools.declarations
  const last = truncated.at(-1)
  const instructions = [
    version.instructions,
    ...(tools.declarations.length > 0 ? [RESULTS_ARE_DATA] : []),
    answerInstructions(answerMode, version.outputSchema),
  ]
  const request = {
    instructions: instructions.join('\n\n'),
    tools: [...declarations, finalAnswerTool(version.outputSchema)],
    answerMode,
    ...(last?.stopReason === 'length' && { truncatedAfter: responseUsageOf(last).outputTokens }),
    signal,
  }
  const window = version.context?.window ?? model.contextWindow ?? contextWindowOf(model.name)
  context.fit(window, estimateInputTokens({ ...request, messages: [] }))
  return { ...request, messages: context.messages }
}

async function nextStep(params: Params, history: History, number: number) {
  const startedAt = isoNow(params.system)
  const hasAlternative = params.retry.mode === 'requeue' || params.fallbacks.hasNext
  const limits = { ...params, hasAlternative, number }
  const respond = async () => {
    const request = toRequest(params, history)
    const responding = respondWithRetry(params.model, request, limits)
    // While the model responds.
    const key = toRequestKey(params.model.name, request, params.declarations)
    return { ...(await responding), request: key }
  }
  const { toolCalls, ...response } = await respond().catch((error: unknown) => {
    if (error instanceof ModelError && error.isOverflow && history.context.clearAll()) return respond()
    throw error
  })
  const { cleared } = history.context
  const finishedAt = isoNow(params.system)
  return {
    ...response,
    ...(cleared > 0 && { clearedResults: cleared }),
    kind: 'MODEL' as const,
    model: params.model.name,
    calls: withRules(toolCalls, { number, finishedAt }, params),
    startedAt,
    finishedAt,
  }
}

/** The calls of a response with the approvals that they need. */
function withRules(
  toolCalls: ToolCall[],
  step: Pick<ModelStep, 'number' | 'finishedAt'>,
  { tools, original }: Params,
): StepCall[] {
  const calls = withApprovals(toolCalls, step, tools.declarations)
  return original?.withApprovals(calls, step.number) ?? calls
}

/**
 * Executes the calls without a stored result. An answer comes last: it ends the run, unless a call beside it failed.
 * The run is suspended if only calls that wait are left.
 * @throws AttemptStopped, Unavailable
 */
async function executeCalls(recorded: RecordedModelStep, params: Params): Promise<void> {
  const { step, results } = recorded
  await params.original?.copyResults(recorded)
  const pending = step.calls.filter((call) => call.error === null && !results.has(call.id))
  const answers = pending.filter(isFinalAnswer)
  const waits = await executeInOrder(
    pending.filter((call) => !isFinalAnswer(call)),
    recorded,
    params,
  )
  if (waits.length > 0) throw new AttemptStopped({ kind: 'Suspended', waits: waits.slice(0, MAX_OPEN_WAITS) })
  if (answers.length > 0 && !outputOf(recorded, params.checkOutput))
    await executeInOrder(answers, recorded, params)
}

/**
 * Begins calls in order and a limited number at a time; stores each result as soon as it is available. When one cannot
 * be completed, no other begins, and those in progress end first: their results are kept. One that waits holds up no
 * other.
 * @returns what calls wait for
 */
async function executeInOrder(
  pending: StepCall[],
  recorded: RecordedModelStep,
  params: Params,
): Promise<Wait[]> {
  const { version, journal } = params
  const { maxParallelToolCalls = MAX_PARALLEL_TOOL_CALLS.default } = version.execution
  const waits: Wait[] = []
  let isStopped = false
  const executeInTurn = async () => {
    for (let isFirst = true; !isStopped; isFirst = false) {
      const call = pending.shift()
      if (!call) return
      if (!isFirst) journal.assertMayBegin()
      await executeCall(call, recorded, params).catch((error: unknown) => {
        if (!(error instanceof CallWaits)) throw error
        waits.push(...error.waits.map((wait) => ({ ...wait, name: call.name, step: recorded.step.number })))
      })
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
  return waits
}

async function executeCall(call: StepCall, recorded: RecordedModelStep, params: Params): Promise<void> {
  const { journal, tools, checkOutput, execution, system, signal } = params
  const startedAt = isoNow(system)
  const idempotencyKey = callKeyOf(execution, recorded.step, call)
  const execute = async () => {
    if (isFinalAnswer(call)) return rejectAnswer(call, recorded, checkOutput)
    const { original } = params
    const decision = await (original && !original.isOfCase
      ? original.decisionOn(call, recorded)
      : decisionOn(call, recorded, params))
    if (decision && decision.decision !== 'approve') return failed(describeDecision(decision) ?? '')
    const input = decision?.input ?? call.input
    // With the defaults that were approved: those of another agent or server may have changed.
    const approved = call.approval ? addDefaults(input, call.approval.inputSchema) : input
    return tools.call({ ...call, input: approved }, { idempotencyKey, signal })
  }
  const result = await execute()
  await journal.appendResult(recorded, { callId: call.id, result, startedAt, finishedAt: isoNow(system) })
}
