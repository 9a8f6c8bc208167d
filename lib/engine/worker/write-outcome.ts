import type { Execution, LeasedExecution, LostStep, Outcome } from '../../core/execution.ts'
import type { Journal } from '../checkpoints/journal.ts'
import type { RetryPolicy } from '../checkpoints/retry-policy.ts'
import { type Engine, isoNow } from '../engine.ts'
import { storeResult } from './single-flight.ts'

/** A run whose lease this worker holds. `journal`: null until it is open. */
export type Run = {
  engine: Engine
  execution: LeasedExecution
  retry: RetryPolicy
  journal: Journal | null
}

/**
 * The result of one worker's attempt. `lost`: another worker has the lease, or the execution is final. `released`: the
 * lease is free for the next worker; `progressed`: this one stored a step; `hasFailed`: the attempt counts as a failure.
 */
export type AttemptResult =
  | { kind: 'completed'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'released'; progressed: boolean; hasFailed: boolean; delayMs: number }

/** Ends the execution; null if the lease is lost. @throws Unavailable, WriteRejected */
export function writeOutcome(
  { engine, execution, journal }: Run,
  result: Outcome,
): Promise<Execution | null> {
  const outcome = { ...withJournal(result, journal), ...lostStepsOf({ execution, journal }) }
  return engine.executions.finish({ execution, outcome, finishedAt: isoNow(engine.system) })
}

/** Also ends its single flight. Best effort: waiting executions also find the result in the record. */
export async function endOf(
  { engine, execution }: Run,
  completed: Execution,
  outcome: Outcome,
): Promise<AttemptResult> {
  await storeResult(engine, execution, outcome).catch(() => undefined)
  return { kind: 'completed', execution: completed }
}

/** With what the journal knows of the run, however it ended. */
function withJournal(outcome: Outcome, journal: Journal | null): Outcome {
  if (!journal) return outcome
  const { progress } = journal
  // The agent, or the cut, can split a surrogate pair, which DynamoDB refuses.
  const logs = journal.logs.toWellFormed()
  const { model, ...counts } = progress
  const recorded = { ...counts, ...(model !== null && { model }) }
  return { ...(outcome.status === 'ERROR' && recorded), ...outcome, ...(logs && { logs }) }
}

/** Unless the record shows them already: none, for most runs. */
export function lostStepsOf({ execution, journal }: Pick<Run, 'execution' | 'journal'>): {
  lostSteps?: LostStep[]
} {
  const hasLost = journal && journal.lostSteps.length + execution.lostSteps.length > 0
  return hasLost ? { lostSteps: journal.lostSteps } : {}
}
