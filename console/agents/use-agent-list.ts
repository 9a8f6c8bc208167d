import { useEffect, useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/api/schemas/agent-record.ts'
import type { ApiError } from '../api/api-error.ts'
import { requestPage } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'

/** The agents that have arrived so far. `isComplete`: all pages have. */
export type AgentList = {
  agents: AgentRecord[]
  isComplete: boolean
  error: ApiError | null
  /** Continues after an error. */
  retry: () => void
}

type State = { agents: AgentRecord[]; next: URLSearchParams | null }

/** All agents, page after page: a search must find those of the last page too. */
export function useAgentList(): AgentList {
  const [state, setState] = useState<State>({ agents: [], next: new URLSearchParams({ limit: '100' }) })
  const [error, setError] = useState<ApiError | null>(null)
  const { next } = state
  useEffect(() => {
    if (!next || error) return
    const controller = new AbortController()
    requestPage<AgentRecord>('/v1/agents', { query: next, signal: controller.signal }).then(
      (page) =>
        setState(({ agents }) => ({
          agents: withoutDuplicates([...agents, ...page.items]),
          next: page.next,
        })),
      (cause: unknown) => {
        if (!controller.signal.aborted) setError(asApiError(cause))
      },
    )
    return () => controller.abort()
  }, [next, error])
  return { agents: state.agents, isComplete: next === null, error, retry: () => setError(null) }
}

/** An agent that is published while pages are read can be on two of them. */
const withoutDuplicates = (agents: AgentRecord[]): AgentRecord[] => [
  ...new Map(agents.map((agent) => [agent.id, agent])).values(),
]
