import type { Agent, Version } from '../../core/agent.ts'
import type { AgentRecord, VersionRecord } from '../schemas/agent-record.ts'

export function toAgentRecord(agent: Agent): AgentRecord {
  return {
    id: agent.id,
    orgId: agent.organizationId,
    slug: agent.slug,
    title: agent.title,
    description: agent.description,
    createdBy: agent.createdBy,
    createdAt: agent.createdAt,
    updatedAt: agent.updatedAt,
    currentVersionId: agent.current?.id ?? null,
    draftVersionId: agent.draftVersionId,
    draftVersionStatus: agent.draftVersionId ? 'DRAFT' : null,
    inputSchema: agent.inputSchema,
    outputSchema: agent.outputSchema,
  }
}

export function toVersionRecord(version: Version): VersionRecord {
  const { maxTokens = null, maxCostUsd = null } = version.execution
  return {
    id: version.id,
    documentId: version.agentId,
    status: version.status,
    title: version.title,
    description: version.description,
    createdBy: version.createdBy,
    createdAt: version.createdAt,
    inputSchema: version.inputSchema,
    outputSchema: version.outputSchema,
    model: version.model,
    execution: { ...version.execution, maxTokens, maxCostUsd },
  }
}
