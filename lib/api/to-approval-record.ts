import { maskMacs } from '../core/callback-mac.ts'
import type { ExecutionSummary } from '../core/execution.ts'
import type { ApprovalRecord } from './schemas/execution-record.ts'

type Listed = Pick<ApprovalRecord, 'id' | 'name' | 'title' | 'input' | 'since' | 'until' | 'step'> & {
  execution: Pick<ExecutionSummary, 'id' | 'agentId' | 'versionId' | 'tenantId'>
}

export const toApprovalRecord = ({ execution, ...approval }: Listed): ApprovalRecord => ({
  id: approval.id,
  executionId: execution.id,
  documentId: execution.agentId,
  versionId: execution.versionId,
  tenantId: execution.tenantId,
  name: approval.name,
  title: maskMacs(approval.title),
  input: maskMacs(approval.input),
  since: approval.since,
  until: approval.until,
  step: approval.step,
})
