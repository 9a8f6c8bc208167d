import { type Access, hasScope } from '../../core/access.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import type {
  ExecutionRecord,
  ExecutionStateRecord,
  ExecutionSummaryRecord,
} from '../schemas/execution-record.ts'
import { toUsageRecord } from './to-usage-record.ts'

export function toExecutionRecord(execution: Execution): ExecutionRecord {
  return {
    id: execution.id,
    documentId: execution.agentId,
    versionId: execution.versionId,
    tenantId: execution.tenantId,
    status: execution.status,
    source: execution.source,
    ...(execution.parentExecutionId && { parentExecutionId: execution.parentExecutionId }),
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
    ...(execution.steps === 0 && { costUsd: 0 }),
    model: execution.model,
    learnedFrom: execution.learnedFrom ?? [],
    feedback: execution.feedback,
    logs: execution.logs,
  }
}

/** The answer to a change of an execution: its record, or only its state for a token that may not read. */
export function toChangedRecord(
  execution: Execution,
  access: Pick<Access, 'scopes'>,
): ExecutionRecord | ExecutionStateRecord {
  if (hasScope(access, 'read')) return toExecutionRecord(execution)
  const { id, status } = execution
  return { id, status }
}

const NO_PAYLOADS = { input: {}, output: null, inputAdaptations: [], feedback: null, logs: null }

export function toExecutionSummary(summary: ExecutionSummary): ExecutionSummaryRecord {
  const record = toExecutionRecord({ ...summary, ...NO_PAYLOADS })
  const { input, output, inputAdaptations, feedback, logs, ...others } = record
  return others
}
