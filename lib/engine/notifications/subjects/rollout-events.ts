import type { AbortedEvent } from '../../../core/rollout.ts'
import type { Addressed } from '../destinations.ts'
import { addressedTo, type ReadSubject } from './event-subject.ts'

/** Of a rollout: that the service has ended it. @throws Unavailable */
export const readRolloutEvents: ReadSubject = async ({ rollouts, deliveries }, key) => {
  const aborted = await rollouts.getAborted(key)
  if (!aborted) return null
  const { id, organizationId, at } = aborted
  const subject = { kind: 'rollout' as const, id }
  return {
    addressed: addressedOf(aborted),
    events: [{ subject, organizationId, revision: 1, type: 'rollout.aborted', occurredAt: at }],
    dataOf: () => JSON.stringify(dataOf(aborted)),
    setHandled: () => deliveries.setHandled(subject),
  }
}

/** Webhooks select it by its agent. */
export const addressedOf = ({
  organizationId,
  agentId,
}: Pick<AbortedEvent, 'organizationId' | 'agentId'>): Addressed => ({
  ...addressedTo(organizationId),
  agentId,
})

const dataOf = ({ organizationId: _, ...aborted }: AbortedEvent) => aborted
