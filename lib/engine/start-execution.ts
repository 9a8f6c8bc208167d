import type { Version } from '../core/agent.ts'
import { ExecutionInProgress, IdempotencyKeyReused, Unavailable } from '../core/errors.ts'
import { type Execution, isFinal, type Lease, newExecution, type RunOptions } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { DEADLINE_MS, IDEMPOTENCY_MS } from '../core/limits.ts'
import type { IdempotencyStore, RunQueue } from '../core/ports.ts'
import type { Admit } from './admission.ts'
import { departureAfter } from './departure.ts'
import { type Engine, timesOf } from './engine.ts'
import { execute } from './execute.ts'

/** What a client asked for, checked. */
export type RunRequest = {
  version: Version
  input: JsonObject
  tenantId: string | null
  options: RunOptions
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
  const execution = record(
    engine,
    request,
    { executionId: engine.ambient.newId(), idempotencyId: null },
    newLease(engine),
  )
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
  owner: engine.ambient.newId(),
  expiresAt: engine.ambient.now() + timesOf(engine).leaseMs,
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
  const execution = record(intake, request, reservation, lease)
  if (await intake.admit(organizationId, () => executions.create({ execution })))
    return { execution, isNew: true }
  const stored = await executions.get(execution)
  if (!stored) throw new Unavailable(new Error('The execution was deleted while it was accepted.'))
  // Its own, when the answer to the first write was lost.
  return { execution: stored, isNew: lease !== null && stored.lease?.owner === lease.owner }
}

type Reserved = { executionId: string; idempotencyId: string | null; isKnown: boolean }

async function reserve({ idempotency, ambient }: Intake, request: RunRequest): Promise<Reserved> {
  const executionId = ambient.newId()
  if (!request.idempotency) return { executionId, idempotencyId: null, isKnown: false }
  const { key, fingerprint } = request.idempotency
  const { agentId } = request.version
  const now = ambient.now()
  const expiresAt = now + IDEMPOTENCY_MS
  const kept = await idempotency.reserve({ agentId, key, executionId, fingerprint, now, expiresAt })
  if (kept.fingerprint !== fingerprint) throw new IdempotencyKeyReused()
  return {
    executionId: kept.executionId,
    idempotencyId: kept.id,
    isKnown: kept.executionId !== executionId,
  }
}

function record(
  engine: Engine,
  { version, input, tenantId, options }: RunRequest,
  { executionId, idempotencyId }: Pick<Reserved, 'executionId' | 'idempotencyId'>,
  lease: Lease | null,
): Execution {
  return newExecution({
    id: executionId,
    organizationId: version.organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId,
    input,
    options,
    idempotencyId,
    now: engine.ambient.now(),
    deadlineMs: DEADLINE_MS,
    graceMs: timesOf(engine).graceMs,
    lease,
  })
}
