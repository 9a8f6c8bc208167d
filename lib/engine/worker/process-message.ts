import type { Execution } from '../../core/execution.ts'
import { failure } from '../../core/execution.ts'
import { backoffMs } from '../../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import type { RunQueue } from '../../core/ports.ts'
import { exhausted } from '../../core/transitions.ts'
import type { Departure } from '../checkpoints/deadline.ts'
import { type Engine, timesOf } from '../engine.ts'
import { versionOf } from '../version-cache.ts'
import { execute, type Turn } from './execute.ts'

/** The message that brought an execution to a worker. */
export type Delivery = {
  queue: RunQueue
  /** How often the message has been delivered, this time included. */
  count: number
  /** Keeps it from being delivered again for so many milliseconds. */
  hide: (ms: number) => Promise<void>
}

/**
 * `held`: another worker has a live lease, and the sweeper sees to it if that one dies. `idle`: there is nothing to do,
 * the execution has ended or is gone. With `comesBackMs` the message must be delivered again, after that time.
 */
export type TakeUp = 'ran' | 'held' | 'idle' | { comesBackMs: number }

/** One round of the runner: takes a waiting execution's lease and runs it to its end, or as far as this worker gets. */
export async function processMessage(
  engine: Engine,
  id: string,
  { delivery, leave }: { delivery?: Delivery; leave?: Departure } = {},
): Promise<TakeUp> {
  const { executions, system } = engine
  const { leaseMs, hiddenMs } = timesOf(engine)
  const now = system.now()
  const owner = system.newId()
  const hide = () => delivery?.hide(hiddenMs) ?? Promise.resolve()
  const [execution] = await Promise.all([
    executions.claim({ id, lease: { owner, expiresAt: now + leaseMs }, now }),
    hide().catch(() => undefined),
  ])
  if (execution === 'held') return 'held'
  if (execution === 'closed') return 'idle'

  const end = async (error: Parameters<typeof failure>[0]): Promise<TakeUp> => {
    const finishedAt = new Date(now).toISOString()
    await executions.finish({ execution, owner, outcome: failure(error), finishedAt })
    return 'ran'
  }
  if (execution.idleAttempts > MAX_ATTEMPTS) return end(exhausted(execution))
  const version = await versionOf(engine.agents, execution)
  if (!version) {
    return end({ code: 'VersionNotFound', message: 'The version that the execution runs on is gone.' })
  }
  const turn = await execute(engine, execution, version, {
    onHeartbeat: hide,
    leave,
    comesBackIn:
      delivery &&
      (({ retryAfterMs }, progressed) =>
        backoffMs(timesOf(engine), {
          delivery: progressed ? 1 : delivery.count,
          askedMs: retryAfterMs ?? 0,
          jitter: Math.random(),
        })),
  })
  return turn.kind === 'released' && delivery ? passOn(execution, turn, delivery) : 'ran'
}

/**
 * Sees to it that a run which was given back goes on. One that has made progress gets a message of its own, since the
 * deliveries of this one are counted: five are for five faults in the same place.
 */
async function passOn(
  { id, organizationId, tenantId }: Execution,
  { progressed, fault, waitMs }: Extract<Turn, { kind: 'released' }>,
  { queue }: Delivery,
): Promise<TakeUp> {
  if (fault && !progressed) return { comesBackMs: waitMs }
  await queue.send({ executionId: id, organizationId, tenantId, delayMs: waitMs })
  return 'ran'
}
