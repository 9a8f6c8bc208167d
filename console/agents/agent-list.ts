import { useEffect, useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ApiError } from '../api/api-error.ts'
import { requestPage } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'
import { fold } from '../components/fold.ts'
import { toSearchParams } from '../state/location.ts'

/** The agents that have arrived so far. `isComplete`: all pages have. */
export type AgentList = {
  agents: AgentRecord[]
  isComplete: boolean
  error: ApiError | null
  /** Continues after an error. */
  retry: () => void
}

type State = { agents: AgentRecord[]; next: URLSearchParams | null }

/**
 * All agents, page after page: a search must find those of the last page too.
 * @param withArchived the same as long as the component exists
 */
export function useAgentList(withArchived: boolean): AgentList {
  const [state, setState] = useState<State>(() => ({
    agents: [],
    next: toSearchParams({ limit: 100, ...(withArchived && { archived: true }) }),
  }))
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

type Searched = Pick<AgentRecord, 'title' | 'slug' | 'description' | 'id'>

/**
 * The agents that contain every word of a query, in any order and case, with or without accents. Those whose title or
 * slug contains them all come first.
 */
export function searchAgents<Agent extends Searched>(agents: readonly Agent[], query: string): Agent[] {
  const words = fold(query).split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...agents]
  const containsAll = (text: string) => words.every((word) => text.includes(word))
  const found = agents.filter((agent) => containsAll(`${nameOf(agent)} ${fold(agent.description ?? '')}`))
  const [byName, byDescription] = [true, false].map((wanted) =>
    found.filter((agent) => containsAll(nameOf(agent)) === wanted),
  )
  return [...(byName ?? []), ...(byDescription ?? [])]
}

const nameOf = ({ title, slug, id }: Searched) => fold(`${title} ${slug} ${id}`)
