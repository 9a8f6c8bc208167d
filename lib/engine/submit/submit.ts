import { sharesWorker } from '../../core/agent.ts'
import { type Execution, isFinal, type LeasedExecution } from '../../core/execution.ts'
import { newExecution } from '../../core/new-execution.ts'
import { ExecutionInProgress } from '../../core/resource-errors.ts'
import { hardDeadline, NEVER, type WorkerDeadline } from '../checkpoints/deadline.ts'
import { type Engine, newLease } from '../engine.ts'
import { waitForCompletion } from '../wait-for-completion.ts'
import { attempt } from '../worker/attempt.ts'
import { accept, enqueue, type SubmitEngine } from './accept.ts'
import { newExecutionParams } from './record.ts'
import type { RunRequest } from './run-request.ts'

/** Records an execution and runs it in this process, without a deadline for the caller. */
export async function runInProcess(engine: Engine, request: RunRequest): Promise<Execution> {
  const { newId = engine.system.newId() } = request
  const ids = { executionId: newId, idempotencyId: null, isBound: false }
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
 * deadline has passed or this worker cannot continue; the runner then does. `acceptedAt`: see `Started`.
 * @param stop brings the deadline forward
 * @throws ExecutionInProgress if the idempotency key is bound to a running execution
 */
export async function submitSync(
  engine: SubmitEngine,
  request: RunRequest,
  stop?: AbortSignal,
): Promise<{ execution: Execution; acceptedAt: number }> {
  const { execution, isNew, ended, acceptedAt } = await startSync(engine, request, stop)
  if (!isNew && !isFinal(execution) && !execution.suspension) throw new ExecutionInProgress(execution.id)
  return { execution: await ended, acceptedAt }
}

/**
 * An accepted execution. `ended`: what `submitSync` returns for it; at once if it was accepted before. `acceptedAt`:
 * when this request found or recorded it, in milliseconds since 1970; its agent runs from then on.
 */
export type Started = { execution: Execution; isNew: boolean; ended: Promise<Execution>; acceptedAt: number }

/**
 * Records an execution and starts to run it in this process. A request that was accepted before is not run again.
 * @param stop brings the deadline forward
 */
export async function startSync(
  engine: SubmitEngine,
  request: RunRequest,
  stop?: AbortSignal,
): Promise<Started> {
  if (engine.sharesProcess && !sharesWorker(request.version)) return startElsewhere(engine, request, stop)
  const deadline = hardDeadline(engine.syncDeadlineMs, stop)
  const { execution, isNew } = await accept(engine, request, newLease(engine)).catch((error: unknown) => {
    deadline.clear()
    throw error
  })
  const running = isNew
    ? runUntil(deadline, engine, execution as LeasedExecution, request)
    : Promise.resolve(execution)
  return { execution, isNew, ended: running.finally(deadline.clear), acceptedAt: engine.system.now() }
}

/** Records an execution for the runner, and waits for it. It waits for no turn, as one that runs in this process. */
async function startElsewhere(engine: SubmitEngine, request: RunRequest, stop = NEVER): Promise<Started> {
  const { execution, isNew } = await accept(engine, request, null, false)
  const acceptedAt = engine.system.now()
  if (!isNew) return { execution, isNew, ended: Promise.resolve(execution), acceptedAt }
  await enqueue(engine, execution)
  const { executions, syncDeadlineMs: timeoutMs } = engine
  const { id, organizationId } = execution
  const waiting = { executions, id, organizationId, timeoutMs, until: 'suspension', signal: stop } as const
  const ended = waitForCompletion(waiting)
    // What cannot be read now is read by the caller, and so is what goes on without this request.
    .catch(() => null)
    .then((found) => (found && found !== 'IN_PROGRESS' ? found : readAgain(engine, execution)))
  return { execution, isNew, ended, acceptedAt }
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

/** The execution as stored now; as this process knows it if the database does not respond. */
async function readAgain({ executions }: Engine, execution: Execution): Promise<Execution> {
  return (await executions.get(execution).catch(() => null)) ?? execution
}
