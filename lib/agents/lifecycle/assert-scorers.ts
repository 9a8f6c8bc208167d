import type { Version } from '../../core/agent.ts'
import type { Violation } from '../../core/errors.ts'
import { agentIdOf } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json/json.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import { InvalidAgent } from '../../core/request-errors.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import type { PublishableAgent } from './publish-agent.ts'

/**
 * The scorers of a document that arrives over HTTP are published agents with the output `score`, and none of their own
 * scorers leads back to it.
 * @throws InvalidAgent
 */
export async function assertScorers(
  agents: Pick<AgentStore, 'get'>,
  organizationId: string,
  { document: { slug, scorers = [] } }: PublishableAgent,
): Promise<void> {
  const get = (agent: string) => agents.get({ organizationId, id: agentIdOf(organizationId, agent) })
  const seen = new Set<string>()
  const leadsHere = async (version: Version | null | undefined): Promise<boolean> => {
    for (const { agent } of version?.scorers ?? []) {
      if (agent === slug) return true
      if (seen.has(agent)) continue
      seen.add(agent)
      if (await leadsHere((await get(agent))?.current)) return true
    }
    return false
  }
  const violations: Violation[] = []
  for (const [index, { agent }] of scorers.entries()) {
    const found = await get(agent)
    const field = `scorers.${index}.agent`
    const report = (problem: string) =>
      violations.push({
        path: '/document',
        field,
        message: `agent.md: ${field}: names "${agent}", ${problem}.`,
      })
    if (!found?.current) report('which is not published: publish it first')
    else if (found.archivedAt !== null) report('which is archived')
    else if (!hasScore(found.current)) report('whose output has no score: add score: { type: number } to it')
    else if (await leadsHere(found.current)) report(`whose scorers lead back to "${slug}"`)
  }
  if (violations.length > 0) throw new InvalidAgent(violations)
}

/** Whether outputs can have a number as `score`. What only a validator could tell is allowed. */
function hasScore({ outputSchema }: Version): boolean {
  const { properties } = toJsonSchema(outputSchema)
  const score = isJsonObject(properties) && Object.hasOwn(properties, 'score') ? properties.score : null
  if (!isJsonObject(score)) return score === true
  return (
    score.type === undefined || [score.type].flat().some((type) => type === 'number' || type === 'integer')
  )
}
