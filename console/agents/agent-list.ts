import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { type List, useList } from '../api/use-list.ts'
import { fold } from '../components/format.ts'

/** All agents, page after page: a search must find those of the last page too. */
export const useAgentList = (withArchived: boolean): List<AgentRecord> =>
  useList('/v1/agents', { query: { limit: 100, archived: withArchived || null }, isWhole: true })

type Searched = Pick<AgentRecord, 'title' | 'slug' | 'description' | 'id'>

/** Agents with every word of a query, without regard to accents and case; those with all in title or slug first. */
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
