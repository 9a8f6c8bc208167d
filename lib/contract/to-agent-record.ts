import type { Access } from '../core/access.ts'
import { type Agent, stepLimitsOf, type Version } from '../core/agent.ts'
import { MAX_CHILDREN, MAX_PARALLEL_TOOL_CALLS } from '../core/limits.ts'
import type { AgentRecord, VersionDetails, VersionRecord } from './records/agent-record.ts'
import { toAgentRollout } from './to-rollout-record.ts'

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
    archivedAt: agent.archivedAt,
    rollout: agent.rollout && toAgentRollout(agent.rollout),
    ...toAbortedRollout(agent),
  }
}

function toAbortedRollout({ abortedRollouts }: Agent): Pick<AgentRecord, 'abortedRollout'> {
  const [last] = Object.values(abortedRollouts).toSorted((a, b) => (a.at < b.at ? 1 : -1))
  return last ? { abortedRollout: { versionId: last.versionId, at: last.at } } : {}
}

type States = Pick<Agent, 'retired' | 'rollout' | 'abortedRollouts'>

/** Who gets a record. */
type Reader = Pick<Access, 'tenantId'>

/** @param states of the versions of its agent */
export function toVersionRecord(
  version: Version,
  states: States,
  reader: Reader = { tenantId: null },
): VersionRecord {
  const {
    maxTokens = null,
    maxCostUsd = null,
    maxParallelToolCalls = MAX_PARALLEL_TOOL_CALLS.default,
    maxChildren = MAX_CHILDREN.default,
    models = null,
  } = version.execution
  const steps = stepLimitsOf(version.execution)
  return {
    id: version.id,
    documentId: version.agentId,
    status: version.status,
    title: version.title,
    description: version.description,
    message: version.message ?? null,
    createdBy: version.createdBy,
    createdAt: version.createdAt,
    retiredAt: states.retired[version.id] ?? null,
    ...toRolloutState(version.id, states, reader),
    inputSchema: version.inputSchema,
    outputSchema: version.outputSchema,
    model: version.model,
    ...(version.fallbacks && { fallbacks: version.fallbacks }),
    useDynamicLearning: version.useDynamicLearning ?? false,
    learning: {
      feedback: version.learning?.feedback ?? 'reviewed',
      unrated: version.learning?.unrated ?? false,
    },
    toolNames: version.tools.map((tool) => String((tool as { name: string }).name)),
    execution: {
      ...version.execution,
      maxAgentSteps: steps.default,
      maxAgentStepsAllowed: steps.max,
      models,
      maxTokens,
      maxCostUsd,
      maxParallelToolCalls,
      maxChildren,
    },
    contentHash: version.digest,
    documentHash: version.documentHash,
    codeHash: version.codeHash ?? null,
  }
}

/** Of a version that has had several rollouts, the last one. The reason has figures of all tenants. */
function toRolloutState(id: string, { rollout, abortedRollouts }: States, { tenantId }: Reader) {
  if (rollout?.versionId === id) return { rollout: { percent: rollout.percent } }
  const aborted = abortedRollouts[id]
  if (!aborted) return {}
  const { at, reason } = aborted
  return { abortedRollout: { at, ...(tenantId === null && { reason }) } }
}

export function toVersionDetails(version: Version, states: States, reader?: Reader): VersionDetails {
  return {
    ...toVersionRecord(version, states, reader),
    code: version.code,
    instructions: version.instructions,
    modelSettings: version.modelSettings ?? null,
    tools: version.tools as VersionDetails['tools'],
    ...(version.requireTools && { requireTools: true }),
    ...(version.context && { context: version.context }),
    ...(version.schedules && { schedules: version.schedules }),
    env: version.env,
  }
}
