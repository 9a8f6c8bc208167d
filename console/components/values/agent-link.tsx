import { useAgents } from '../../api/agents.ts'
import { shortId } from '../../format/numbers.ts'
import { toHref, toPath } from '../../state/location.ts'

/** A link to an agent, by its title once that is known. */
export function AgentLink({ agentId }: { agentId: string }) {
  const agent = useAgents()?.get(agentId)
  return <a href={toHref(toPath('agents', agent?.slug ?? agentId))}>{agent?.title ?? shortId(agentId)}</a>
}
