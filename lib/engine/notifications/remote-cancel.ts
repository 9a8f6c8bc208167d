import type { ExecutionSummary } from '../../core/execution.ts'
import { REMOTE_AGENT } from '../../core/notification.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { StepStore } from '../../core/step.ts'
import { loopbackHosts } from '../../tools/egress/private-hosts.ts'
import type { Destination } from './destinations.ts'

type Stores = { agents: Pick<AgentStore, 'getVersion'>; steps: Pick<StepStore, 'read'> }

/**
 * Where a remote agent is told that its run was cancelled: `/cancel` after the path of its URL. Null unless the agent
 * asked for it when it accepted the request.
 * @throws Unavailable
 */
export async function findCancelled(
  { agents, steps }: Stores,
  { id, organizationId, agentId, versionId }: ExecutionSummary,
): Promise<Destination | null> {
  const recorded = await steps.read({ executionId: id })
  const isAsked = recorded.some(
    ({ step }) => step.kind === 'WAIT' && step.wait.kind === 'signal' && step.wait.tellsCancel,
  )
  const version = isAsked ? await agents.getVersion({ organizationId, agentId, id: versionId }) : null
  if (!version?.remote?.url) return null
  const url = new URL(version.remote.url)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/cancel`
  const { href } = url
  const allowedHosts = [...(version.remote.allowedHosts ?? []), ...loopbackHosts(href, organizationId)]
  return { id: REMOTE_AGENT, webhook: null, url: href, allowedHosts }
}
