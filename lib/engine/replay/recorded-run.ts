import { cutValue } from '../../core/compare.ts'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { Json } from '../../core/json/json.ts'
import { type PointerTree, toPointerTree, withoutPointers } from '../../core/json/pointer.ts'
import { FINAL_ANSWER, type Model, type ToolCall, type ToolResult } from '../../core/model.ts'
import { NO_COST } from '../../core/model-usage.ts'
import type { Recording } from '../../core/recording.ts'
import {
  type CallResult,
  type ModelStep,
  type RecordedModelStep,
  type RecordedStep,
  responseUsageOf,
  type Step,
  type StepCall,
} from '../../core/step.ts'
import { type Replay, sourceOf } from '../../core/trial.ts'
import type { Decision } from '../../core/wait.ts'
import { addDefaults } from '../../tools/add-defaults.ts'
import { isRefusedCall } from '../../tools/call-tool.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import type { Journal, NewStep } from '../checkpoints/journal.ts'
import { approvalIdOf, storedDecision } from '../waiting/approvals.ts'
import { Diverged, OriginalEnded } from './diverged.ts'

/** It passes through the tool: the call is not executed. */
const notMade = ({ name: tool, input }: ToolCall, step: number): Diverged =>
  new Diverged(
    `The original did not make this call of the tool ${tool} (step ${step}), so that it has no result. The call was not executed.`,
    { tool, input: cutValue(input), step },
  )

/** Errors that repeat by themselves. */
const DECIDED_BY_STEPS = new Set([
  'MaxAgentStepsExceeded',
  'ModelRefused',
  'ModelTruncated',
  'OutputSchemaMismatch',
  'ToolsNeverCalled',
])

/** Whether the steps of a run lead to the error: not a request that failed, a limit, or the time. */
export const isDecidedBySteps = ({ code, step }: ExecutionError, steps: number): boolean =>
  DECIDED_BY_STEPS.has(code) && step !== steps + 1

/** Of limits; null or absent for none. */
const isMore = (own: number | null | undefined, theirs: number | null | undefined): boolean =>
  typeof theirs === 'number' && (own ?? Number.POSITIVE_INFINITY) > theirs

/** A call of the original, with the results of its step. */
type RecordedCall = { call: StepCall; results: Map<string, CallResult> }

type Params = {
  replay: Replay
  recording: Recording
  options: Execution['options']
  /** Of the replay: what it has taken derives from it, so that each of its workers goes on in the same way. */
  journal: Pick<Journal, 'recorded' | 'appendResult'>
  /** Whether no tool of this run gets a call. */
  refuses: (call: ToolCall) => boolean
}

/**
 * What the run of a model agent takes from its original. Calls are the same by their name, their arguments and how
 * often they were made before. Models are asked from the first request on that differs, or that the original has no
 * response to. Older originals have no keys of their requests: none is the same.
 */
export class RecordedRun {
  private readonly params: Params
  private readonly original: RecordedModelStep[]
  private readonly calls: Map<string, RecordedCall[]>
  /** How often the first steps of this run made each call. */
  private readonly made = { steps: 0, calls: new Map<string, number>() }
  private readonly found = new WeakMap<StepCall[], Map<string, RecordedCall>>()
  /** Of inputs, which copies of their calls share. */
  private readonly hashes = new WeakMap<object, string>()
  private readonly ignored: PointerTree

  constructor(params: Params) {
    this.params = params
    this.ignored = toPointerTree(params.replay.ignore)
    this.original = params.recording.steps.filter(isModelStep)
    const calls = this.original.flatMap(({ step, results }) =>
      step.calls.filter((call) => !isRefused(call, results)).map((call) => ({ call, results })),
    )
    this.calls = Map.groupBy(calls, ({ call }) => this.keyOf(call) ?? '')
  }

  /** The original. */
  get execution(): Execution {
    return this.params.recording.original
  }

  get isOfCase(): boolean {
    return this.params.recording.ofCase !== undefined
  }

  /** The models that responded in the original. */
  get models(): (string | undefined)[] {
    return this.original.map(({ step }) => step.model)
  }

  /** That of agents whose document names none; null for that of the service. */
  get defaultModel(): string | null {
    return this.params.replay.defaultModel
  }

  /** The hash of the declarations of MCP tools in the original; undefined if it has none. */
  get declarations(): string | undefined {
    return this.original.find(({ step }) => step.request?.declarations)?.step.request?.declarations
  }

  /**
   * The step of the original that may be the next one of this run, null once they differ. `isFixed`: it is, whatever
   * the request would be.
   */
  next(): { step: ModelStep; isFixed: boolean } | null {
    const { journal, replay } = this.params
    const { length } = journal.recorded
    const last = journal.recorded.at(-1)?.step
    const step = this.original[length]?.step
    if (!step || (last && !this.isTaken(last))) return null
    const isFixed = length + 1 < replay.fromStep
    return isFixed || replay.models === 'recorded' ? { step, isFixed } : null
  }

  /** In a case, a run ends with the first response that is not recorded. */
  private isTaken(step: Step): boolean {
    return this.isOfCase || (step.kind === 'MODEL' && step.replayed !== undefined)
  }

  /**
   * The error of the original, if this run has taken all of its steps, and something else than these ended it: a model
   * that did not respond, a limit, or the time. Null if this run is to go on, also because it may spend more.
   */
  get end(): ExecutionError | null {
    const { journal, options, recording, replay } = this.params
    const { error, options: theirs } = recording.original
    const { length } = journal.recorded
    const last = journal.recorded.at(-1)?.step
    if (!error || replay.models !== 'recorded' || length !== this.original.length) return null
    if (!last || !this.isTaken(last)) return null
    if (isDecidedBySteps(error, length)) return null
    const isOfRun = error.code === 'BudgetExceeded' && error.spent !== undefined
    const maySpendMore =
      isMore(options.maxTokens, theirs.maxTokens) || isMore(options.maxCostUsd, theirs.maxCostUsd)
    return isOfRun && maySpendMore ? null : error
  }

  /** A step of the original as one of this run. */
  toStep({ number: _, attempt: __, ...step }: ModelStep, at: string, model: Model | null): NewStep {
    const taken = { ...step, startedAt: at, finishedAt: at }
    const { usage } = step
    if (this.isOfCase)
      return { ...taken, usage: { ...usage, ...(model?.costOf && { costUsd: model.costOf(usage) }) } }
    return { ...taken, usage: NO_COST, replayed: { usage: responseUsageOf(step) } }
  }

  /** Stores the results of a step that is taken as it is. */
  async copyResults(recorded: RecordedModelStep): Promise<void> {
    const { journal, replay } = this.params
    const { number } = recorded.step
    if (number >= replay.fromStep) return
    for (const result of this.original[number - 1]?.results.values() ?? [])
      if (!recorded.results.has(result.callId)) await journal.appendResult(recorded, toReplayed(result))
  }

  /**
   * Calls of a response with the approvals that they needed in the original. One that needs its first approval keeps
   * it: its result is recorded, or there is none.
   */
  withApprovals(calls: StepCall[], number: number): StepCall[] {
    if (this.isOfCase) return calls
    const found = this.findAll(calls, number)
    return calls.map((call) => {
      const { approval } = found.get(call.id)?.call ?? {}
      return approval ? { ...call, approval: { ...approval, id: approvalIdOf({ number }, call.id) } } : call
    })
  }

  /**
   * The decision on a call of the original, which is stored here, too: nobody is asked again. Null without one.
   * @throws AttemptStopped, Unavailable
   */
  async decisionOn(call: StepCall, recorded: RecordedModelStep): Promise<Decision | null> {
    const { approval } = call
    if (!approval) return null
    const { calls, number } = recorded.step
    const found = this.findAll(calls, number).get(call.id)
    const decision = found?.call.approval && found.results.get(found.call.approval.id)
    if (!decision) return null
    if (!recorded.results.has(approval.id))
      await this.params.journal.appendResult(recorded, { ...toReplayed(decision), callId: approval.id })
    return storedDecision(recorded, approval.id)
  }

  isLive({ name, agent }: Pick<ToolDocument, 'name' | 'agent'>): boolean {
    return agent === undefined ? sourceOf(this.params.replay.tools, name) === 'live' : this.isOfCase
  }

  /**
   * The result of a call of this run; null if it is to be made.
   * @param position `positionOfCall`
   * @throws Diverged if there is none; OriginalEnded if the original ended before there was one
   */
  resultOf(document: ToolDocument, position: string): ToolResult | null {
    const { recorded } = this.params.journal
    const { step, results = new Map() } = recorded[Number.parseInt(position, 10) - 1] ?? {}
    if (step?.kind !== 'MODEL') throw new Error(`There is no step of the call ${position}.`)
    const { calls, number } = step
    const call = calls.find(({ id }) => position === `${number}-${id}`)
    if (!call) throw new Error(`There is no call ${position}.`)
    // What somebody had to approve is not executed again.
    if (this.isLive(document) && (!call.approval || this.isOfCase)) return null
    const found = this.findAll(calls, number).get(call.id)
    const isSame =
      !this.isOfCase || (found && this.keyOfExecuted({ call, results }) === this.keyOfExecuted(found))
    const result = isSame ? found?.results.get(found.call.id) : undefined
    const end = found && !result ? this.end : null
    if (end) throw new OriginalEnded(end)
    if (!result) throw notMade(call, number)
    return toReplayed(result).result
  }

  /** The calls of the original that are the same as those of a step of this run, by the ids of these. */
  private findAll(calls: StepCall[], number: number): Map<string, RecordedCall> {
    const known = this.found.get(calls)
    if (known) return known
    const { made } = this
    const { recorded } = this.params.journal
    for (; made.steps < number - 1; made.steps++) {
      const { step, results } = recorded[made.steps] ?? {}
      if (step?.kind === 'MODEL') this.count(step.calls, results, made.calls)
    }
    const found = new Map<string, RecordedCall>()
    this.count(calls, recorded[number - 1]?.results, new Map(made.calls), (call, key, occurrence) => {
      const same = this.calls.get(key)?.[occurrence]
      if (same && !found.has(call.id)) found.set(call.id, same)
    })
    this.found.set(calls, found)
    return found
  }

  /** Counts calls of a step of this run, but for those that no tool gets. */
  private count(
    calls: StepCall[],
    results: Map<string, CallResult> | undefined,
    counts: Map<string, number>,
    onCall?: (call: StepCall, key: string, occurrence: number) => void,
  ): void {
    for (const call of calls) {
      const key = this.keyOf(call)
      // Results arrive in any order, also after another worker went on.
      const isCounted =
        key !== null && !(results?.has(call.id) ? isRefused(call, results) : this.params.refuses(call))
      if (!isCounted) continue
      const occurrence = counts.get(key) ?? 0
      counts.set(key, occurrence + 1)
      onCall?.(call, key, occurrence)
    }
  }

  private keyOfExecuted({ call, results }: RecordedCall): string | null {
    return this.keyOf({ ...call, input: executedInputOf(call, results) })
  }

  /** Null for a call that no tool gets. */
  private keyOf(call: ToolCall): string | null {
    const { name, input, error } = call
    if (error !== null || name === FINAL_ANSWER) return null
    const held = typeof input === 'object' && input !== null ? input : call
    const hash = this.hashes.get(held) ?? hashJson(withoutPointers(input, this.ignored))
    this.hashes.set(held, hash)
    return `${name} ${hash}`
  }
}

const isModelStep = (recorded: RecordedStep): recorded is RecordedModelStep => recorded.step.kind === 'MODEL'

/** The input that a tool gets: an approver may have changed it. Null if nobody approved the call. */
export function executedInputOf(
  { input, approval }: StepCall,
  results: RecordedStep['results'],
): Json | null {
  if (!approval) return input
  const decision = storedDecision({ results }, approval.id)
  if (decision && decision.decision !== 'approve') return null
  return addDefaults(decision?.input ?? input, approval.inputSchema)
}

/** No tool got this call, so that the result is none of a tool. */
function isRefused(call: StepCall, results: Map<string, CallResult>): boolean {
  const result = results.get(call.id)?.result
  return result !== undefined && isRefusedCall(call, result)
}

/** A result as one of the replay, which has not used what the original did for it. */
export function toReplayed({ attempt: _, ...recorded }: CallResult): CallResult {
  const { usage: used, replayed, ...result } = recorded.result
  const usage = used ?? replayed?.usage
  return { ...recorded, result: { ...result, replayed: { ...(usage && { usage }) } } }
}
