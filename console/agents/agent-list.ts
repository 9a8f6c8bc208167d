import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { type List, useList } from '../api/use-list.ts'
import { findTexts } from '../components/format.ts'

/** All agents, page after page: a search must find those of the last page too. */
export const useAgentList = (withArchived: boolean): List<AgentRecord> =>
  useList('/v1/agents', { query: { limit: 100, archived: withArchived || null }, isWhole: true })

type Searched = Pick<AgentRecord, 'title' | 'slug' | 'description' | 'id'>

/** Agents with every word of a query, without regard to accents and case; those with all in title or slug first. */
export function searchAgents<Agent extends Searched>(agents: Agent[], query: string): Agent[] {
  const byName = findTexts(agents, nameOf, query)
  const byAll = findTexts(agents, (agent) => `${nameOf(agent)} ${agent.description ?? ''}`, query)
  return [...new Set([...byName, ...byAll])]
}

const nameOf = ({ title, slug, id }: Searched) => `${title} ${slug} ${id}`
