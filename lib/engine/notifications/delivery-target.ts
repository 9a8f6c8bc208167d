import {
  DEFAULT_WEBHOOK,
  EVENT_BUS,
  REMOTE_AGENT,
  SCORES,
  type SubjectEvent,
  TRACES,
} from '../../core/notification.ts'
import { loopbackHosts } from '../../tools/egress/private-hosts.ts'
import type { Destination } from './destinations.ts'
import type { DeliveryEngine } from './open-delivery-engine.ts'
import type { EventSubject } from './subjects.ts'

/** A destination, with its present URL. `problem`: why nothing can be sent. */
export type Target = Destination & { problem?: string }

/** Where a delivery goes that is repeated. @throws Unavailable */
export async function targetOf(engine: DeliveryEngine, subject: EventSubject, id: string): Promise<Target> {
  const { organizationId, webhookUrl } = subject.addressed
  if (id === EVENT_BUS || needsExecution(id)) return { id, webhook: null, url: null }
  if (id === DEFAULT_WEBHOOK) return { id, webhook: null, url: webhookUrl }
  const remote = id === REMOTE_AGENT && (await findRemote(engine, subject))
  if (remote) return remote
  const webhook = await engine.webhooks.get({ organizationId, id })
  if (webhook?.enabled) return { id, webhook, url: webhook.url }
  return { id, webhook: null, url: null, problem: `The webhook ${webhook ? 'is disabled' : 'was deleted'}.` }
}

/**
 * Where a remote agent is told that its run was cancelled: `/cancel` after the path of its URL. Null unless the agent
 * asked for it when it accepted the request.
 * @throws Unavailable
 */
export async function findRemote(
  { agents, steps }: DeliveryEngine,
  { execution }: EventSubject,
): Promise<Destination | null> {
  if (!execution) return null
  const { id, organizationId, agentId, versionId } = execution
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

/** Whether a destination takes the execution itself: it is none for one that was deleted. */
export const needsExecution = (id: string): boolean => id === TRACES || id === SCORES

/** What answers or does not: URLs that are given with requests have nothing in common but their name. */
export function receiverOf({ id, url }: Destination, { organizationId }: SubjectEvent): string {
  return [DEFAULT_WEBHOOK, REMOTE_AGENT].includes(id) && url !== null
    ? `${organizationId} ${new URL(url).origin}`
    : id
}
