import { useEffect, useRef, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { ApiError } from '../api/api-error.ts'
import { type Page, requestPage } from '../api/request.ts'
import { asApiError, useResource } from '../api/use-resource.ts'

const PAGE_SIZE = 20

/** The versions that have arrived so far, newest first. */
export type Versions = {
  versions: VersionRecord[] | null
  hasMore: boolean
  error: ApiError | null
  loadMore: () => Promise<void>
  retry: () => void
}

/** The versions of an agent, newest first, page by page. */
export function useVersions(agent: AgentRecord): Versions {
  const { id: agentId, currentVersionId, draftVersionId, rollout } = agent
  const [more, setMore] = useState<Page<VersionRecord> | null>(null)
  const [moreError, setMoreError] = useState<ApiError | null>(null)
  const load = (query: URLSearchParams, signal?: AbortSignal) =>
    requestPage<VersionRecord>(`/v1/agents/${encodeURIComponent(agentId)}/versions`, { query, signal })
  const { data, error, reload } = useResource(agentId, (signal) =>
    load(new URLSearchParams({ limit: String(PAGE_SIZE) }), signal),
  )
  // The states of versions depend on the agent.
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) reload()
    isFirst.current = false
  }, [currentVersionId, draftVersionId, rollout?.versionId, rollout?.updatedAt])
  const next = more ? more.next : (data?.next ?? null)

  async function loadMore() {
    if (!next) return
    setMoreError(null)
    try {
      const page = await load(next)
      setMore({ items: [...(more?.items ?? []), ...page.items], next: page.next })
    } catch (cause) {
      setMoreError(asApiError(cause))
    }
  }

  return {
    versions: data ? [...data.items, ...(more?.items ?? [])] : null,
    hasMore: next !== null,
    error: error ?? moreError,
    loadMore,
    retry: error ? reload : loadMore,
  }
}
