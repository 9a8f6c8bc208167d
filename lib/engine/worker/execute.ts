import { setTimeout as sleep } from 'node:timers/promises'
import type { Version } from '../../core/agent.ts'
import { Unavailable } from '../../core/errors.ts'
import type { Execution, ExecutionError, Outcome } from '../../core/execution.ts'
import { WorkerLeaves } from '../checkpoints/deadline.ts'
import { LeaseLost } from '../checkpoints/journal.ts'
import { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import { RetryableError } from '../checkpoints/stop-reason.ts'
import { type Engine, timesOf } from '../engine.ts'
import { type Run, runInTime, type TurnOptions } from './attempt.ts'
import { settle, WaitsForAnother } from './single-flight.ts'

/**
 * How a worker's turn ended. `lost`: somebody else has ended the execution, or has it now. `released`: its lease is
 * free for the next worker; `progressed` when this one has stored a step.
 */
export type Turn =
  | { kind: 'ended'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'released'; progressed: boolean; fault: RetryableError | null; waitMs: number }

/** Runs an execution whose lease the caller holds, to its end or as far as this worker gets. */
export async function execute(
  engine: Engine,
  execution: Execution,
  version: Version,
  options: TurnOptions = {},
): Promise<Turn> {
  const { executions, system } = engine
  const { id, lease } = execution
  const { owner, expiresAt } = lease ?? { owner: '', expiresAt: 0 }
  const { onHeartbeat } = options
  const times = timesOf(engine)
  const keeper = new LeaseHeartbeat({ executions, system, times, id, owner, expiresAt, onHeartbeat })
  const run: Run = { execution, version, keeper, options, journal: null }
  const released = async (fault: RetryableError | null, waitsMs?: number): Promise<Turn> => {
    keeper.stop()
    const progressed = run.journal?.hasGrown ?? false
    const waitMs = waitsMs ?? (fault && options.comesBackIn ? options.comesBackIn(fault, progressed) : 0)
    await release(engine, execution, { fault, waitMs, waits: waitsMs !== undefined })
    return { kind: 'released', progressed, fault, waitMs }
  }
  try {
    const outcome = await runInTime(engine, run)
    if (!outcome) return keeper.lost.aborted ? { kind: 'lost' } : await released(null)
    const ended = await finish(engine, run, outcome)
    if (!ended) return { kind: 'lost' }
    // Best effort: who waits for it finds the record too.
    await settle(engine, execution, outcome).catch(() => undefined)
    return { kind: 'ended', execution: ended }
  } catch (error) {
    if (error instanceof LeaseLost || keeper.lost.aborted) return { kind: 'lost' }
    if (error instanceof WaitsForAnother) return await released(null, error.waitMs)
    if (error instanceof WorkerLeaves) return await released(null)
    if (error instanceof RetryableError) return await released(error)
    if (error instanceof Unavailable) return await released(new RetryableError(UNAVAILABLE, null))
    throw error
  } finally {
    keeper.stop()
  }
}

const UNAVAILABLE: ExecutionError = {
  code: 'Unavailable',
  message: 'The database did not answer while the run was at work.',
}

/** Best effort: a lease that is not given back runs out. */
async function release(
  engine: Engine,
  { id, lease }: Execution,
  { fault, waitMs, waits }: { fault: RetryableError | null; waitMs: number; waits: boolean },
): Promise<void> {
  const { executions, system } = engine
  const until = system.now() + waitMs + timesOf(engine).graceMs
  await executions
    .release({ id, owner: lease?.owner ?? '', until, fault: fault?.error ?? null, waits })
    .catch(() => undefined)
}

const FINISH_AGAIN_MS = 500

/** A result is not thrown away because the database does not take it at once: as long as the lease lasts, it is offered. */
async function finish({ executions, system }: Engine, { execution, keeper }: Run, outcome: Outcome) {
  const owner = execution.lease?.owner ?? ''
  const finishedAt = new Date(system.now()).toISOString()
  for (;;) {
    try {
      return await executions.finish({ execution, owner, outcome, finishedAt })
    } catch (error) {
      if (!(error instanceof Unavailable) || keeper.lost.aborted) throw error
      await sleep(FINISH_AGAIN_MS)
    }
  }
}
