import { agentIdOf } from '../../core/ids.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import { InvalidAgent } from '../../core/request-errors.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import { isPublicHost } from '../../tools/egress/egress-policy.ts'
import { privateHosts } from '../../tools/egress/private-hosts.ts'
import type { PublishableAgent } from './publish-agent.ts'

/**
 * A document that arrives over HTTP may name in `allowedHosts` what operators allow, what the current version of its
 * agent names, and public addresses. Every other name could resolve to an address of the operator's network.
 * @throws InvalidAgent
 */
export async function assertHostsAllowed(
  agents: Pick<AgentStore, 'get'>,
  organizationId: string,
  { document }: PublishableAgent,
): Promise<void> {
  const mayBePrivate = privateHosts(organizationId)
  const unknown = hostsOf(document).filter(({ host }) => !isPublicHost(host) && !mayBePrivate(host))
  if (unknown.length === 0) return
  const agent = await agents.get({ organizationId, id: agentIdOf(organizationId, document.slug) })
  const { tools = [], execution, remote } = agent?.current ?? {}
  const known = hostsOf({ tools: tools as unknown as ToolDocument[], execution, remote })
  const refused = unknown.filter(({ host }) => known.every((each) => each.host !== host))
  if (refused.length === 0) return
  throw new InvalidAgent(
    refused.map(({ host, field }) => ({
      path: '/document',
      field,
      message: `agent.md: ${field}: must not name "${host}": over HTTP, only hosts of the agent's current version, public addresses, and hosts that operators name in the setting webhookHosts (for npm start, WEBHOOK_HOSTS).`,
    })),
  )
}

type Hosts = { allowedHosts?: string[] | undefined }

type Named = { tools: ToolDocument[]; execution?: Hosts | undefined; remote?: Hosts | undefined }

function hostsOf({ tools, execution, remote }: Named) {
  const endpoints = tools.flatMap(({ http, mcp }, index) => [
    [`tools.${index}.http`, http] as const,
    [`tools.${index}.mcp`, mcp] as const,
  ])
  const others = [['execution', execution] as const, ['remote', remote] as const]
  return [...endpoints, ...others].flatMap(([field, endpoint]) =>
    (endpoint?.allowedHosts ?? []).map((host, position) => ({
      host: host.toLowerCase(),
      field: `${field}.allowedHosts.${position}`,
    })),
  )
}
