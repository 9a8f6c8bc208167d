import { maskMacs } from '../core/callback-mac.ts'
import type { ExecutionSummary } from '../core/execution.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { ApprovalRecord } from './records/execution-record.ts'

type Listed = Pick<ApprovalRecord, 'id' | 'name' | 'title' | 'input' | 'since' | 'until' | 'step'> & {
  inputSchema: JsonObject | null
  execution: Pick<ExecutionSummary, 'id' | 'agentId' | 'versionId' | 'tenantId'>
}

type Reader = {
  mayDecide: boolean
  isSummary: boolean
}

export const toApprovalRecord = (
  { execution, ...approval }: Listed,
  { mayDecide, isSummary }: Reader,
): ApprovalRecord => ({
  id: approval.id,
  executionId: execution.id,
  documentId: execution.agentId,
  versionId: execution.versionId,
  tenantId: execution.tenantId,
  name: approval.name,
  title: maskMacs(approval.title),
  ...(!isSummary && { input: maskMacs(approval.input), inputSchema: approval.inputSchema }),
  mayDecide,
  since: approval.since,
  until: approval.until,
  step: approval.step,
})
