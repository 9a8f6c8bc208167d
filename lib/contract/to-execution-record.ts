import { maskMacs } from '../core/callback-mac.ts'
import {
  type Execution,
  type ExecutionSummary,
  isUnused,
  type Usage,
  usageOfTree,
} from '../core/execution.ts'
import { type CallResult, type RecordedStep, WAIT_RESULT } from '../core/step.ts'
import { type CallApproval, type Decision, toWaitingFor } from '../core/wait.ts'
import type {
  ExecutionRecord,
  ExecutionSummaryRecord,
  StepRecord,
  UsageRecord,
} from './records/execution-record.ts'

export function toExecutionRecord(execution: Execution): ExecutionRecord {
  return {
    id: execution.id,
    documentId: execution.agentId,
    versionId: execution.versionId,
    selectedBy: execution.selectedBy,
    ...(execution.isDraft && { draft: true as const }),
    tenantId: execution.tenantId,
    status: execution.status,
    source: execution.source,
    tokenId: execution.tokenId,
    ...(execution.replay && { originalExecutionId: execution.replay.executionId }),
    ...toBatchLine(execution),
    ...(execution.schedule && {
      scheduleName: execution.schedule.name,
      scheduledFor: execution.schedule.at,
    }),
    ...(execution.parentExecutionId && { parentExecutionId: execution.parentExecutionId }),
    waitingFor: execution.suspension && toWaitingFor(execution.suspension.waits),
    input: execution.input,
    output: execution.output,
    error: execution.error,
    inputAdaptations: execution.inputAdaptations,
    cached: execution.cached,
    ...(execution.cachedExecutionId && { cachedDocumentExecutionId: execution.cachedExecutionId }),
    createdAt: execution.createdAt,
    startedAt: execution.startedAt,
    finishedAt: execution.finishedAt,
    attempts: execution.attempts,
    steps: execution.steps,
    ...toUsageRecord(execution.usage),
    // Code agents have no model. Without a price, the cost of a model is not known.
    ...((execution.steps === 0 || execution.model === null) && isUnused(execution.usage) && { costUsd: 0 }),
    ...toTotal(execution),
    model: execution.model,
    learnedFrom: execution.learnedFrom ?? [],
    ...(execution.warnings.length > 0 && { warnings: execution.warnings }),
    feedback: execution.feedback,
    logs: execution.logs,
  }
}

/** The lines of a trial are named by their originals. */
function toBatchLine({ batch, source }: Pick<Execution, 'batch' | 'source'>) {
  if (!batch) return {}
  return source === 'TRIAL' ? { trialId: batch.id } : { batchId: batch.id, customId: batch.customId }
}

const NO_PAYLOADS = { input: {}, output: null, inputAdaptations: [], feedback: null, logs: null }

export function toExecutionSummary(summary: ExecutionSummary): ExecutionSummaryRecord {
  const record = toExecutionRecord({ ...summary, ...NO_PAYLOADS })
  const { input, output, inputAdaptations, feedback, logs, ...others } = record
  return others
}

/** An item of a list, with payloads if they were read. */
export const toListedExecution = (item: Execution | ExecutionSummary) =>
  'input' in item ? toExecutionRecord(item) : toExecutionSummary(item)

export function toStepRecord({ step, results }: RecordedStep): StepRecord {
  const { number, attempt = 1, startedAt, finishedAt } = step
  const times = { attempt, startedAt, finishedAt, durationMs: getDurationMs(step) }
  if (step.kind === 'CODE') return maskMacs({ number, name: step.name, result: step.value, ...times })
  if (step.kind === 'WAIT') {
    const { kind, ...wait } = step.wait
    const resultId = 'id' in wait ? wait.id : WAIT_RESULT
    const outcome = toOutcome(results.get(resultId))
    const skipped = [...results.values()].flatMap(({ signals }) => signals?.skipped ?? [])
    const others = { ...(skipped.length > 0 && { skipped }), ...times }
    return maskMacs({ number, name: step.name, wait: { kind, ...wait }, ...outcome, ...others })
  }
  const toolCalls = step.calls.map(({ id, name, input, error, approval }) => ({
    id,
    name,
    input,
    ...(error !== null && { error }),
    ...(approval && { approval: toCallApproval(approval, results.get(approval.id)) }),
    ...toOutcome(results.get(id)),
  }))
  const { text, model, usage, stopReason, clearedResults, replayed } = step
  return {
    number,
    text,
    toolCalls,
    ...(model && { model }),
    ...(stopReason && { stopReason }),
    ...(clearedResults && { clearedResults }),
    ...(replayed && { replayed: true as const }),
    ...toUsageRecord(usage),
    ...times,
  }
}

function toCallApproval({ id, until }: CallApproval, decided: CallResult | undefined) {
  return { id, until, ...(decided?.result.ok && (decided.result.value as Decision)) }
}

function toOutcome(recorded: CallResult | undefined) {
  if (!recorded) return {}
  const { result, attempt = 1, startedAt } = recorded
  const outcome = result.ok ? { result: result.value } : { error: result.error }
  const { executionId, replayed } = result
  return {
    ...outcome,
    ...(executionId !== undefined && { executionId }),
    ...(replayed && { replayed: true as const }),
    startedAt,
    durationMs: getDurationMs(recorded),
    attempt,
  }
}

const getDurationMs = ({ startedAt, finishedAt }: { startedAt: string; finishedAt: string }) =>
  Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)

/** With the agents that it called as tools. */
function toTotal(execution: Execution) {
  const total = toUsageRecord(usageOfTree(execution) ?? { ...execution.usage, costUsd: 0 })
  return { totalUsage: total.usage, totalCostUsd: total.costUsd }
}

/** The tokens and the cost, which a record has next to each other. */
export function toUsageRecord(usage: Usage): { usage: UsageRecord; costUsd: number | null } {
  const { inputTokens, outputTokens, costUsd = null, estimated } = usage
  const { cachedInputTokens = null, cacheWriteTokens = null, reasoningTokens = null } = usage
  return {
    usage: {
      inputTokens,
      outputTokens,
      cachedInputTokens,
      cacheWriteTokens,
      reasoningTokens,
      ...(estimated && { estimated }),
    },
    costUsd,
  }
}
