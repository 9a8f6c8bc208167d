import type { Version } from '../../core/agent.ts'
import { ExecutionInProgress, IdempotencyKeyReused, Unavailable } from '../../core/errors.ts'
import {
  cachedExecution,
  type Execution,
  type InputAdaptation,
  isFinal,
  type Lease,
  type NewExecution,
  newExecution,
  type RunOptions,
} from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import { DEADLINE_MS, IDEMPOTENCY_MS } from '../../core/limits.ts'
import type { IdempotencyStore, RunQueue } from '../../core/ports.ts'
import { departureAfter } from '../checkpoints/deadline.ts'
import { type Engine, timesOf } from '../engine.ts'
import { execute } from '../worker/execute.ts'
import type { Admit } from './admission.ts'

/** What a client asked for, checked. */
export type RunRequest = {
  version: Version
  input: JsonObject
  inputAdaptations?: InputAdaptation[]
  tenantId: string | null
  options: RunOptions
  cache?: Execution['cache']
  idempotency?: Idempotency | null
}

/** A client's key, and a hash of all that must be the same when the key is used again. */
export type Idempotency = { key: string; fingerprint: string }

/** An engine that takes in runs. */
export type Intake = Engine & {
  queue: RunQueue
  idempotency: IdempotencyStore
  admit: Admit
  /** How long a caller waits for the output. */
  syncDeadlineMs: number
}

/** Records an execution and runs it here, however long it takes. */
export async function runHere(engine: Engine, request: RunRequest): Promise<Execution> {
  const names = { executionId: engine.system.newId(), idempotencyId: null }
  const execution = newExecution({ ...detailsOf(engine, request, names), lease: newLease(engine) })
  await engine.executions.create({ execution })
  const turn = await execute(engine, execution, request.version)
  return turn.kind === 'ended' ? turn.execution : asStored(engine, execution)
}

/**
 * Records an execution and runs it here. Returns it as it ended; or as it is when the deadline has passed or this
 * worker could not go on: then the runner does.
 * @throws ExecutionInProgress when the key leads to an execution that has not ended
 */
export async function runNow(intake: Intake, request: RunRequest): Promise<Execution> {
  const leave = departureAfter(intake.syncDeadlineMs)
  const { execution, isNew } = await accept(intake, request, newLease(intake))
  if (!isNew && !isFinal(execution)) throw new ExecutionInProgress(execution.id)
  if (!isNew) return execution
  const turn = await execute(intake, execution, request.version, { leave })
  if (turn.kind === 'ended') return turn.execution
  if (turn.kind === 'released') await enqueue(intake, execution)
  return asStored(intake, execution)
}

const newLease = (engine: Engine): Lease => ({
  owner: engine.system.newId(),
  expiresAt: engine.system.now() + timesOf(engine).leaseMs,
})

/** As others have left it; as it was begun when the database does not say. */
async function asStored({ executions }: Engine, execution: Execution): Promise<Execution> {
  return (await executions.get(execution).catch(() => null)) ?? execution
}

/** Records an execution and leaves it to the runner. Once recorded it is never lost: the sweeper enqueues it again. */
export async function runLater(intake: Intake, request: RunRequest): Promise<Execution> {
  const { execution, isNew } = await accept(intake, request, null)
  if (isNew) await enqueue(intake, execution)
  return execution
}

/** Best effort: the sweeper sees to what could not be sent. */
async function enqueue({ queue }: Intake, { id, organizationId, tenantId }: Execution): Promise<void> {
  await queue.send({ executionId: id, organizationId, tenantId }).catch(() => undefined)
}

/**
 * Records an execution, unless the request's key leads to one. Of requests with one key at the same time, all have the
 * id that was reserved first, and one creates the record.
 * @throws IdempotencyKeyReused, TooManyRequests
 */
async function accept(
  intake: Intake,
  request: RunRequest,
  lease: Lease | null,
): Promise<{ execution: Execution; isNew: boolean }> {
  const { executions } = intake
  const organizationId = request.version.organizationId
  const reservation = await reserve(intake, request)
  const known = reservation.isKnown
    ? await executions.get({ organizationId, id: reservation.executionId })
    : null
  if (known) return { execution: known, isNew: false }
  const cached = await recordCached(intake, request, reservation)
  if (cached) return { execution: cached, isNew: false }
  const execution = newExecution({ ...detailsOf(intake, request, reservation), lease })
  if (await intake.admit(organizationId, () => executions.create({ execution })))
    return { execution, isNew: true }
  const stored = await executions.get(execution)
  if (!stored) throw new Unavailable(new Error('The execution was deleted while it was accepted.'))
  // Its own, when the answer to the first write was lost: a fresh id is nobody else's.
  const isOwn = lease ? stored.lease?.owner === lease.owner : reservation.idempotencyId === null
  return { execution: stored, isNew: isOwn }
}

type Reserved = { executionId: string; idempotencyId: string | null; isKnown: boolean }

async function reserve({ idempotency, system }: Intake, request: RunRequest): Promise<Reserved> {
  const executionId = system.newId()
  if (!request.idempotency) return { executionId, idempotencyId: null, isKnown: false }
  const { key, fingerprint } = request.idempotency
  const { agentId } = request.version
  const now = system.now()
  const expiresAt = now + IDEMPOTENCY_MS
  const kept = await idempotency.reserve({ agentId, key, executionId, fingerprint, now, expiresAt })
  if (kept.fingerprint !== fingerprint) throw new IdempotencyKeyReused()
  return {
    executionId: kept.executionId,
    idempotencyId: kept.id,
    isKnown: kept.executionId !== executionId,
  }
}

/** A hit: an execution of its own, which is over as it begins. Null when there is no result to reuse. */
async function recordCached(
  intake: Intake,
  request: RunRequest,
  reservation: Reserved,
): Promise<Execution | null> {
  if (!request.cache) return null
  const { cache, executions, system } = intake
  const entry = await cache.get({ key: request.cache.key, now: system.now() })
  if (!entry?.output) return null
  const execution = cachedExecution(detailsOf(intake, request, reservation), entry.executionId, entry.output)
  return (await executions.create({ execution })) ? execution : executions.get(execution)
}

function detailsOf(
  engine: Engine,
  { version, input, inputAdaptations = [], tenantId, options, cache = null }: RunRequest,
  { executionId, idempotencyId }: Pick<Reserved, 'executionId' | 'idempotencyId'>,
): Omit<NewExecution, 'lease'> {
  return {
    id: executionId,
    organizationId: version.organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId,
    input,
    inputAdaptations,
    options,
    idempotencyId,
    now: engine.system.now(),
    deadlineMs: DEADLINE_MS,
    graceMs: timesOf(engine).graceMs,
    cache,
  }
}
