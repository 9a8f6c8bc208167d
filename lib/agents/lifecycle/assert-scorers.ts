import type { Version } from '../../core/agent.ts'
import { agentIdOf } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json/json.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import { InvalidAgent } from '../../core/request-errors.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import type { PublishableAgent } from './publish-agent.ts'

type Agents = Pick<AgentStore, 'get'>

/**
 * The scorers of a document that arrives over HTTP are published agents with the output `score`, and none of their own
 * scorers leads back to it.
 * @throws InvalidAgent
 */
export async function assertScorers(
  agents: Agents,
  organizationId: string,
  { document: { slug, scorers = [] } }: PublishableAgent,
): Promise<void> {
  const get = async (scorer: string) =>
    (await agents.get({ organizationId, id: agentIdOf(organizationId, scorer) })) ?? null
  const problems = await Promise.all(
    scorers.map(async ({ agent }, index) => {
      const found = await get(agent)
      const version = found?.current
      if (!version) return { index, problem: `names "${agent}", which is not published: publish it first` }
      if (found.archivedAt !== null) return { index, problem: `names "${agent}", which is archived` }
      if (!hasScore(version))
        return {
          index,
          problem: `names "${agent}", whose output has no score: add score: { type: number } to it`,
        }
      const chain = await findChain(version)
      return (
        chain && { index, problem: `names "${agent}", whose scorers lead back here: ${chain.join(' → ')}` }
      )
    }),
  )
  const violations = problems
    .filter((each) => each !== null)
    .map(({ index, problem }) => {
      const field = `scorers.${index}.agent`
      return { path: '/document', field, message: `agent.md: ${field}: ${problem}.` }
    })
  if (violations.length > 0) throw new InvalidAgent(violations)

  /** From the scorer to the agent itself; null if none of its scorers leads there. */
  async function findChain(from: Version): Promise<string[] | null> {
    const chains = [[from]]
    const seen = new Set<string>()
    for (let chain = chains.shift(); chain; chain = chains.shift()) {
      const slugs = chain.map((version) => version.slug)
      for (const { agent } of chain.at(-1)?.scorers ?? []) {
        if (agent === slug) return [slug, ...slugs, slug]
        const version = seen.has(agent) ? null : (await get(agent))?.current
        seen.add(agent)
        if (version) chains.push([...chain, version])
      }
    }
    return null
  }
}

/** Whether outputs can have a number as `score`. What only a validator could tell is allowed. */
function hasScore({ outputSchema }: Version): boolean {
  const { properties } = toJsonSchema(outputSchema)
  if (!isJsonObject(properties) || !Object.hasOwn(properties, 'score')) return false
  const { score } = properties
  const type = isJsonObject(score) ? score.type : undefined
  return type === undefined || [type].flat().some((each) => each === 'number' || each === 'integer')
}
