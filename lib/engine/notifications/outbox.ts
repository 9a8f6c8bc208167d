import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { isFinal } from '../../core/execution.ts'
import { CANCELLED, type ExecutionError } from '../../core/execution-errors.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import type { EventType } from '../../core/notification.ts'
import type { RolloutStore } from '../../core/ports/agents.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { DeliveryMessage, DeliveryQueue } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import type { LimitStore } from '../../core/ports/usage.ts'
import type { AbortedEvent } from '../../core/rollout.ts'
import { MAX_ENDING_MS } from '../../core/usage.ts'
import { toWaitingFor, type Wait } from '../../core/wait.ts'
import { type Engine, isoNow, readTimes } from '../engine.ts'
import {
  type Addressed,
  addressedOfBatch,
  addressedOfRollout,
  type Destinations,
  openDestinations,
} from './destinations.ts'
import { writeWarnings } from './warn-at-limit.ts'

/** Of what has ended by now. A process can be frozen while it asks who wants the event. */
const endOfWrite = () => Date.now() + MAX_ENDING_MS

type Told = Required<Pick<Engine, 'announce' | 'warnAtLimit'>> & {
  /**
   * Keeps the event of a rollout that the service has ended, if a destination wants it, and starts its delivery; the
   * sweeper repeats that. Again does nothing.
   * @throws Unavailable
   */
  tellAborted: (aborted: AbortedEvent) => Promise<void>
}

type Parts = { queue: DeliveryQueue; system: System; times?: LeaseTimes; destinations?: Destinations }

/**
 * Stores whose writes that end or suspend an execution, or end a batch, also mark it for delivery, if a destination
 * wants to be told. Whatever crashes after such a write, the sweeper finds the mark. Children that an execution has
 * started, and runs and batches of drafts, are marked for traces only, and without destinations nothing is. Warnings of
 * cost limits and aborted rollouts are records of their own, which are marked when they are written.
 */
export function withOutbox<
  S extends {
    executions: ExecutionStore
    batches: BatchStore
    limits: Pick<LimitStore, 'putWarning'>
    rollouts: Pick<RolloutStore, 'putAborted'>
    webhooks: WebhookStore
  },
>(
  stores: S,
  { queue, system, times = readTimes(), destinations = openDestinations(stores.webhooks) }: Parts,
): S & Told {
  const { executions, batches, limits, rollouts } = stores
  /** Best effort: the sweeper repeats it. */
  const send = async (message: DeliveryMessage) => {
    const sending = queue.send(message).catch(() => undefined)
    await Promise.race([sending, pause(MAX_PAUSE_MS)])
  }
  const announce: Engine['announce'] & {} = ({ id, organizationId }) =>
    send({ subject: { kind: 'execution', id }, organizationId })
  /** A subject is marked in vain rather than not at all: whether anybody wants the event is asked again. */
  const isWanted = (addressed: Addressed, type: EventType) =>
    Promise.race([destinations.of(addressed, type), pause(MAX_PAUSE_MS)]).then(
      (found) => found?.length !== 0,
      () => true,
    )
  const written = new LRUCache<string, true>({ max: MAX_WARNINGS })
  return {
    ...stores,
    announce,

    warnAtLimit: (spending) =>
      writeWarnings({ limits, system, isWanted, send, written }, spending).catch(() => undefined),

    async tellAborted(aborted) {
      const { id, organizationId } = aborted
      if (!(await isWanted(addressedOfRollout(aborted), 'rollout.aborted'))) return
      // The time of this write, not of the end: the sweeper may have read the entries of that time.
      if (await rollouts.putAborted({ aborted, now: system.now() }))
        await send({ subject: { kind: 'rollout', id }, organizationId })
    },

    batches: {
      ...batches,

      async end(params) {
        const { id, organizationId } = params.batch
        const isMarked = await isWanted(addressedOfBatch(params.batch), 'batch.ended')
        const isFirst = await batches.end({ ...params, isMarked })
        if (isFirst && isMarked) await send({ subject: { kind: 'batch', id }, organizationId })
        return isFirst
      },
    },

    executions: {
      ...executions,

      async create(params) {
        const { execution } = params
        const sendBefore = endOfWrite()
        const isMarked = isFinal(execution) && (await isWanted(execution, endOf(execution)))
        const isNew = await executions.create({ sendBefore, ...params, isMarked })
        if (isNew && isMarked) await announce(execution)
        return isNew
      },

      async finish(params) {
        const { execution, outcome, staysListed } = params
        const sendBefore = endOfWrite()
        const error = outcome.status === 'ERROR' ? outcome.error : null
        const isMarked = !staysListed && (await isWanted(execution, endOf({ ...outcome, error })))
        const finished = await executions.finish({ sendBefore, ...params, isMarked })
        if (finished && isMarked) await announce(finished)
        return finished
      },

      async end(params) {
        const { execution, error, staysListed } = params
        const sendBefore = endOfWrite()
        const isMarked =
          execution !== undefined &&
          !staysListed &&
          (await isWanted(execution, endOf({ status: 'ERROR', error })))
        const ended = await executions.end({ sendBefore, ...params, isMarked })
        if (ended && isMarked) await announce(ended)
        return ended
      },

      async settle(params) {
        const { execution, until } = params
        const isMarked =
          until === null && execution.openUntil !== null && (await isWanted(execution, endOf(execution)))
        // It may have ended long before: the sweeper has read the entries of that time.
        const markedAt = isMarked && isoNow(system)
        await executions.settle({ ...params, markedAt })
        if (isMarked) await announce(execution)
      },

      async suspend(params) {
        const { execution, suspension, openUntil } = params
        if (!tellsOf(suspension.waits) || !(await isWanted(execution, 'execution.waiting')))
          return executions.suspend(params)
        const { at, waits } = suspension
        const event = { revision: execution.attempts, at, waits: toWaitingFor(waits) }
        const isSuspended = await executions.suspend({
          ...params,
          pendingEvents: [...execution.pendingEvents, event].slice(-MAX_PENDING_EVENTS),
          // The timer looks at it soon, until the event is handled.
          openUntil: Math.min(openUntil, system.now() + times.graceMs),
        })
        if (isSuspended) await announce(execution)
        return isSuspended
      },
    },
  }
}

/** Warnings that a process knows to be written. */
const MAX_WARNINGS = 10_000

/** How long the end of a run waits for the webhooks, or for its message to be sent: a caller may wait for it. */
const MAX_PAUSE_MS = 1_000

const pause = (ms: number) => sleep(ms, undefined, { ref: false })

/** Waits that destinations have not been told of: older ones are dropped. One message tells all of them. */
const MAX_PENDING_EVENTS = 20

/** A person or a system has to do something. */
const tellsOf = (waits: Wait[]): boolean => waits.some(({ kind }) => kind === 'approval' || kind === 'signal')

/** The event of the end of an execution. */
export function endOf({ status, error }: { status: string; error: ExecutionError | null }): EventType {
  if (status === 'SUCCESS') return 'execution.succeeded'
  return error?.code === CANCELLED.code ? 'execution.cancelled' : 'execution.failed'
}
