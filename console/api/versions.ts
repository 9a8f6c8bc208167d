import type { VersionRecord } from '../../lib/api/schemas/agent-record.ts'
import { requestPage } from './request.ts'

/** A version of an agent; null if it does not exist (any more). Reads the list, newest first. @throws ApiError */
export async function findVersion(
  agent: string,
  versionId: string,
  signal: AbortSignal,
): Promise<VersionRecord | null> {
  let query: URLSearchParams | null = new URLSearchParams({ limit: '20' })
  while (query) {
    const page: { items: VersionRecord[]; next: URLSearchParams | null } = await requestPage<VersionRecord>(
      `/v1/agents/${encodeURIComponent(agent)}/versions`,
      { query, signal },
    )
    const version = page.items.find(({ id }) => id === versionId)
    if (version) return version
    query = page.next
  }
  return null
}
