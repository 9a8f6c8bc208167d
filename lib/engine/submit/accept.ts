import { Unavailable } from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import type { Lease } from '../../core/lease-times.ts'
import type { IdempotencyStore } from '../../core/ports/caches.ts'
import { readSetting, SHARED_WORKER } from '../../environment.ts'
import { type Admit, admission } from '../../limits/admission.ts'
import { type Engine, queuedOf, readTimes } from '../engine.ts'
import { joinQueue } from '../queued-runs.ts'
import { openWaitLimits } from '../waiting/suspend.ts'
import { record } from './record.ts'
import { reserveId } from './reserve-id.ts'
import type { RunRequest } from './run-request.ts'

/** An engine that accepts requests. */
export type SubmitEngine = Engine & {
  idempotency: IdempotencyStore
  admit: Admit
  /** How long a synchronous caller waits for the output. */
  syncDeadlineMs: number
  /** Whether other runs are in this process at the same time: those that need a worker of their own are elsewhere. */
  sharesProcess?: boolean
}

/** What the environment does not determine. */
type Parts = Omit<SubmitEngine, 'admit' | 'times' | 'syncDeadlineMs' | 'sharesProcess'>

/**
 * An engine that accepts requests, with the limits and times of the environment.
 * @param maxWaitMs how long a synchronous caller waits at most, whatever the environment says
 */
export function openSubmitEngine(parts: Parts, maxWaitMs = Number.POSITIVE_INFINITY): SubmitEngine {
  const maxOpen = readSetting('maxOpenExecutions')
  const waitMs = readSetting('syncDeadlineSeconds') * 1000
  return {
    ...parts,
    admit: admission(parts, maxOpen),
    times: readTimes(),
    ...openWaitLimits(parts),
    syncDeadlineMs: Math.min(waitMs, maxWaitMs),
    sharesProcess: process.env[SHARED_WORKER] === 'on',
  }
}

/** Records an execution and enqueues it for the runner. Once recorded it is never lost: the sweeper re-enqueues it. */
export async function submitAsync(engine: SubmitEngine, request: RunRequest): Promise<Execution> {
  const { execution, isNew } = await accept(engine, request, null)
  if (isNew) await enqueue(engine, execution)
  return execution
}

/** Best effort: the sweeper enqueues what could not be sent, and the timer what waits for its turn. */
export async function enqueue(
  engine: Pick<Engine, 'executions' | 'limits' | 'queue' | 'system'>,
  execution: Execution,
  delayMs = 0,
) {
  const { limits, queue } = engine
  const delay = delayMs > 0 && { delayMs }
  const sending =
    execution.suspension && limits
      ? joinQueue({ ...engine, limits }, execution)
      : queue.send({ ...queuedOf(execution), ...delay })
  await sending.catch(() => undefined)
}

/**
 * Records an execution, unless the request's idempotency key is bound to one. Concurrent requests with the same key all
 * use the id that was reserved first; one of them creates the record.
 * @param mayQueue whether it may wait for its turn where limits say so
 * @throws IdempotencyKeyReused, ExecutionDeleted, the refusal of the request, and what `record` throws
 */
export async function accept(
  engine: SubmitEngine,
  request: RunRequest,
  lease: Lease | null,
  mayQueue = lease === null,
) {
  const { executions } = engine
  const organizationId = request.version.organizationId
  const reservation = await reserve(engine, request)
  const existing = reservation.isBound
    ? await executions.get({ organizationId, id: reservation.executionId })
    : null
  if (existing) return { execution: existing, isNew: false }
  if (request.refusal) throw request.refusal
  const recorded = await record(engine, request, reservation, lease, mayQueue)
  // The same request is told so, or gets another id.
  if (!recorded) throw new Unavailable(new Error('The execution was deleted while it was being accepted.'))
  return recorded
}

const reserve = async (engine: SubmitEngine, request: RunRequest) => {
  const { executionId, version, idempotency, newId } = request
  return executionId === undefined
    ? reserveId(engine, version, idempotency, newId)
    : { executionId, idempotencyId: null, isBound: true }
}
