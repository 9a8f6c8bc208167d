import { sharesWorker } from '../../core/agent.ts'
import { ExecutionInProgress, Unavailable } from '../../core/errors.ts'
import {
  cachedExecution,
  type Execution,
  isFinal,
  type Lease,
  type LeasedExecution,
  type NewExecution,
  newExecution,
} from '../../core/execution.ts'
import { timeOfId } from '../../core/ids.ts'
import * as limits from '../../core/limits.ts'
import type { IdempotencyStore } from '../../core/ports.ts'
import {
  ACCEPTS_ALONE,
  MAX_OPEN_EXECUTIONS,
  readDurationMs,
  readInteger,
  SYNC_DEADLINE_SECONDS,
} from '../../environment.ts'
import { hardDeadline, type WorkerDeadline } from '../checkpoints/deadline.ts'
import { type Engine, newLease, queuedOf, readTimes, timesOf } from '../engine.ts'
import { openWaitLimits } from '../waiting/suspend.ts'
import { attempt } from '../worker/attempt.ts'
import { type Admit, admission } from './admission.ts'
import { type Reserved, reserveId } from './reserve-id.ts'
import type { RunRequest } from './run-request.ts'

/** An engine that accepts requests. */
export type SubmitEngine = Engine & {
  idempotency: IdempotencyStore
  admit: Admit
  /** How long a synchronous caller waits for the output. */
  syncDeadlineMs: number
}

/** What the environment does not determine. */
type Parts = Omit<SubmitEngine, 'admit' | 'times' | 'syncDeadlineMs'>

/**
 * An engine that accepts requests, with the limits and times of the environment.
 * @param maxWaitMs how long a synchronous caller waits at most, whatever the environment says
 */
export function openSubmitEngine(parts: Parts, maxWaitMs = Number.POSITIVE_INFINITY): SubmitEngine {
  const maxOpen = readInteger(MAX_OPEN_EXECUTIONS, limits.MAX_OPEN_EXECUTIONS)
  const isOnlyProcess = process.env[ACCEPTS_ALONE] === 'on'
  const waitMs = readDurationMs(SYNC_DEADLINE_SECONDS, limits.SYNC_DEADLINE_MS.streamed)
  return {
    ...parts,
    admit: admission(parts, maxOpen, isOnlyProcess ? 1 : undefined),
    times: readTimes(),
    ...openWaitLimits(parts),
    syncDeadlineMs: Math.min(waitMs, maxWaitMs),
  }
}

/** Records an execution and runs it in this process, without a deadline for the caller. */
export async function runInProcess(engine: Engine, request: RunRequest): Promise<Execution> {
  const ids = { executionId: engine.system.newId(), idempotencyId: null, isBound: false }
  const execution = newExecution({ ...newExecutionParams(engine, request, ids), lease: newLease(engine) })
  await engine.executions.create({ execution })
  const result = await attempt(engine, execution, {
    version: request.version,
    adaptedInput: request.adaptedInput,
  })
  return result.kind === 'completed' ? result.execution : readAgain(engine, execution)
}

/**
 * Records an execution and runs it in this process. Returns it when it is final or suspended, or in progress once the
 * deadline has passed or this worker cannot continue; the runner then does.
 * @param stop brings the deadline forward
 * @throws ExecutionInProgress if the idempotency key is bound to a running execution
 */
export async function submitSync(
  engine: SubmitEngine,
  request: RunRequest,
  stop?: AbortSignal,
): Promise<Execution> {
  const { execution, isNew, ended } = await startSync(engine, request, stop)
  if (!isNew && !isFinal(execution) && !execution.suspension) throw new ExecutionInProgress(execution.id)
  return ended
}

/** An accepted execution. `ended`: what `submitSync` returns for it; at once if it was accepted before. */
export type Started = { execution: Execution; isNew: boolean; ended: Promise<Execution> }

/**
 * Records an execution and starts to run it in this process. A request that was accepted before is not run again.
 * @param stop brings the deadline forward
 */
export async function startSync(
  engine: SubmitEngine,
  request: RunRequest,
  stop?: AbortSignal,
): Promise<Started> {
  const deadline = hardDeadline(engine.syncDeadlineMs, stop)
  const { execution, isNew } = await accept(engine, request, newLease(engine)).catch((error: unknown) => {
    deadline.clear()
    throw error
  })
  const running = isNew
    ? runUntil(deadline, engine, execution as LeasedExecution, request)
    : Promise.resolve(execution)
  return { execution, isNew, ended: running.finally(deadline.clear) }
}

async function runUntil(
  deadline: WorkerDeadline,
  engine: SubmitEngine,
  execution: LeasedExecution,
  { version, adaptedInput }: RunRequest,
): Promise<Execution> {
  const result = await attempt(engine, execution, { version, adaptedInput, deadline })
  if (result.kind === 'completed') return result.execution
  if (result.kind === 'released') await enqueue(engine, execution, result.delayMs)
  return readAgain(engine, execution)
}

/** Records an execution and enqueues it for the runner. Once recorded it is never lost: the sweeper re-enqueues it. */
export async function submitAsync(engine: SubmitEngine, request: RunRequest): Promise<Execution> {
  const { execution, isNew } = await accept(engine, request, null)
  if (isNew) await enqueue(engine, execution)
  return execution
}

/** The execution as stored now; as this process knows it if the database does not respond. */
async function readAgain({ executions }: Engine, execution: Execution): Promise<Execution> {
  return (await executions.get(execution).catch(() => null)) ?? execution
}

/** Best effort: the sweeper enqueues what could not be sent. */
async function enqueue({ queue }: SubmitEngine, execution: Execution, delayMs = 0) {
  const delay = delayMs > 0 && { delayMs }
  await queue.send({ ...queuedOf(execution), ...delay }).catch(() => undefined)
}

/**
 * Records an execution, unless the request's idempotency key is bound to one. Concurrent requests with the same key all
 * use the id that was reserved first; one of them creates the record.
 * @throws IdempotencyKeyReused, TooManyRequests, and the refusal of the request
 */
async function accept(engine: SubmitEngine, request: RunRequest, lease: Lease | null) {
  const { executions } = engine
  const organizationId = request.version.organizationId
  const reservation = await reserve(engine, request)
  const existing = reservation.isBound
    ? await executions.get({ organizationId, id: reservation.executionId })
    : null
  if (existing) return { execution: existing, isNew: false }
  if (request.refusal) throw request.refusal
  const recorded = await record(engine, request, reservation, lease)
  if (!recorded) throw new Unavailable(new Error('The execution was deleted while it was being accepted.'))
  return recorded
}

/**
 * Records an execution, or finds the one with its id; null if that was deleted. A cache hit is final at once. `isNew`:
 * it has to be run.
 * @throws TooManyRequests
 */
export async function record(
  engine: Engine & Pick<SubmitEngine, 'admit'>,
  request: RunRequest,
  ids: Reserved,
  lease: Lease | null,
): Promise<{ execution: Execution; isNew: boolean } | null> {
  const { executions } = engine
  const cached = await recordCacheHit(engine, request, ids)
  if (cached) return { execution: cached, isNew: false }
  const execution = newExecution({ ...newExecutionParams(engine, request, ids), lease })
  if (await engine.admit(execution.organizationId, () => executions.create({ execution })))
    return { execution, isNew: true }
  const stored = await executions.get(execution)
  // Our own record if the response to the first write was lost: nobody else has this new id.
  const isOwn = lease ? stored?.lease?.owner === lease.owner : !ids.isBound && ids.idempotencyId === null
  return stored && { execution: stored, isNew: isOwn }
}

const reserve = async (engine: SubmitEngine, { executionId, version, idempotency }: RunRequest) =>
  executionId === undefined
    ? reserveId(engine, version, idempotency)
    : { executionId, idempotencyId: null, isBound: true }

/** A cache hit is a separate execution, final at creation. Null on a miss. */
async function recordCacheHit(engine: Engine, request: RunRequest, reservation: Reserved) {
  if (!request.cache) return null
  const { cache, executions, system } = engine
  const entry = await cache.get({ key: request.cache.key, now: system.now() })
  if (!entry?.output) return null
  const params = newExecutionParams(engine, request, reservation)
  const execution = cachedExecution(params, entry.executionId, entry.output)
  return (await executions.create({ execution })) ? execution : executions.get(execution)
}

export function newExecutionParams(
  engine: Engine,
  request: RunRequest,
  { executionId, idempotencyId, isBound }: Reserved,
): Omit<NewExecution, 'lease'> {
  const { version, input, inputAdaptations = [], tenantId, options } = request
  const { tokenId = null, webhookUrl = null, cache = null, batch = null, schedule = null } = request
  return {
    id: executionId,
    organizationId: version.organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId,
    tokenId,
    webhookUrl,
    input,
    inputAdaptations,
    options,
    idempotencyId,
    // The time in the id: lists compare `from` and `to` with it.
    now: isBound ? engine.system.now() : timeOfId(executionId),
    deadlineMs: limits.DEADLINE_MS,
    graceMs: timesOf(engine).graceMs,
    cache,
    sharesWorker: sharesWorker(version),
    isDraft: version.status === 'DRAFT',
    batch,
    schedule,
  }
}
