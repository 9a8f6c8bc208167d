import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { findVersion } from '../api/agents.ts'
import { ApiError } from '../api/api-error.ts'
import { requestJson } from '../api/request.ts'

/** The agent of a trial, and what its current version asks for. */
export type Release = { agent: AgentRecord; gate: Gate | null }

/** Null if the agent is gone. @throws ApiError */
export async function readRelease(agentId: string, signal: AbortSignal): Promise<Release | null> {
  try {
    const agent = await requestJson<AgentRecord>(`/v1/agents/${agentId}`, { signal })
    const { currentVersionId } = agent
    const current = currentVersionId === null ? null : await findVersion(agent.id, currentVersionId, signal)
    return { agent, gate: current?.execution.promotion ?? null }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
