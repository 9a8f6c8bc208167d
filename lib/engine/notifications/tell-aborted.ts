import type { EventType } from '../../core/notification.ts'
import type { RolloutStore } from '../../core/ports/agents.ts'
import type { DeliveryMessage } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import type { AbortedEvent } from '../../core/rollout.ts'
import type { Addressed } from './destinations.ts'
import { addressedOfRollout } from './destinations.ts'

/** Tells destinations of a rollout that the service has ended. */
export type TellAborted = (aborted: AbortedEvent) => Promise<void>

type Parts = {
  rollouts: Pick<RolloutStore, 'putAborted'>
  system: Pick<System, 'now'>
  isWanted(addressed: Addressed, type: EventType): Promise<boolean>
  send(message: DeliveryMessage): Promise<void>
}

/**
 * Keeps the event of a rollout that the service has ended, if a destination wants it, and starts its delivery; the
 * sweeper repeats that. Again does nothing.
 * @throws Unavailable
 */
export async function tellAborted(
  { rollouts, system, isWanted, send }: Parts,
  aborted: AbortedEvent,
): Promise<void> {
  const { id, organizationId } = aborted
  if (!(await isWanted(addressedOfRollout(aborted), 'rollout.aborted'))) return
  // The time of this write, not of the end: the sweeper may have read the entries of that time.
  if (await rollouts.putAborted({ aborted, now: system.now() }))
    await send({ subject: { kind: 'rollout', id }, organizationId })
}
