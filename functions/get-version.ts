import { parseVersionId, resolveAgent } from '../lib/agents/resolve-agent.ts'
import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { versionParameters } from '../lib/contract/parameters/lists.ts'
import { toVersionDetails } from '../lib/contract/records/agent.ts'
import type { Version } from '../lib/core/agent.ts'
import { VersionNotFound } from '../lib/core/resource-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const { agents, rates } = openStores()

async function getVersion(request: Request<'get-version'>) {
  const { organizationId, agentId: idOrSlug } = request
  const id = parseVersionId(request.versionId)
  const agent = await resolveAgent({ store: agents, organizationId, idOrSlug })
  const version = await agents.getVersion({ organizationId, agentId: agent.id, id })
  if (!version) throw new VersionNotFound()
  const details = toVersionDetails(version, agent, request.access)
  const { query } = request
  const code =
    query.sourceCode && version.code ? await agents.getCode({ agentId: agent.id, versionId: id }) : null
  const body = {
    ...details,
    ...(query.frontMatter && { frontMatter: await readFrontMatter(version) }),
    ...(code !== null && { sourceCode: code }),
  }
  return { status: 200, body }
}

/** Few requests need the checks of documents. */
async function readFrontMatter(version: Version) {
  const { toFrontMatter } = await import('../lib/agents/document/version-content.ts')
  return toFrontMatter(version)
}

export const handler = endpoint('get-version', getVersion, {
  rates,
  suggest: suggestSlug(agents),
  query: versionParameters,
})
