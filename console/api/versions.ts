import type { VersionDetails } from '../../lib/api/schemas/agent-record.ts'
import { ApiError } from './api-error.ts'
import { requestJson } from './request.ts'

/** A version of an agent with its whole document. @throws ApiError */
export const getVersion = (agent: string, versionId: string, signal: AbortSignal): Promise<VersionDetails> =>
  requestJson(`/v1/agents/${encodeURIComponent(agent)}/versions/${encodeURIComponent(versionId)}`, { signal })

/** The same; null if it does not exist (any more). @throws ApiError */
export async function findVersion(
  agent: string,
  versionId: string,
  signal: AbortSignal,
): Promise<VersionDetails | null> {
  try {
    return await getVersion(agent, versionId, signal)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
