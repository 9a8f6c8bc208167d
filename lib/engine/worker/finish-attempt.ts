import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { kindOf } from '../../core/agent.ts'
import { Unavailable, WriteRejected } from '../../core/errors.ts'
import type { Execution, Outcome } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { readKeys } from '../../core/search-keys.ts'
import { describeCause, logger } from '../../logger.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import { untilAborted } from '../checkpoints/deadline.ts'
import { retryableError } from '../checkpoints/stop-reason.ts'
import { afterEnd, hasOpenChildren } from '../end-execution.ts'
import { isoNow, timesOf } from '../engine.ts'
import type { Attempt, AttemptResult } from './attempt-state.ts'
import { storeResult } from './single-flight.ts'

/** A run whose data the database rejects ends: a retry would fail in the same way. @throws any other error */
export function toRejection(error: unknown): ExecutionError {
  if (!(error instanceof WriteRejected)) throw error
  return { code: 'AgentFailed', message: error.message }
}

/** Interval of the retries of a final write, and how long one may take after the worker's time is up. */
const FINISH_RETRY_MS = 500
const FINISH_GRACE_MS = 2_000

/**
 * Null if the lease is lost. A result is not discarded because the database is unavailable for a moment: the write is
 * retried for as long as a lease lasts, unless the worker's time or the execution's is up before.
 * @throws Unavailable or AttemptStopped then
 */
export async function finish(current: Attempt, result: Outcome): Promise<Execution | null> {
  const { engine, execution, stop } = current
  const outcome = await complete(current, result)
  const { system } = engine
  const giveUpAt = Math.min(system.now() + timesOf(engine).leaseMs, execution.deadlineAt)
  const isInTime = () => !stop.aborted && system.now() + FINISH_RETRY_MS < giveUpAt
  const writing = pRetry(() => writeCompleted(current, outcome), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: FINISH_RETRY_MS,
    shouldRetry: ({ error }) => error instanceof Unavailable && isInTime(),
  })
  try {
    return await untilAborted(stop, writing, async () => {
      await sleep(FINISH_GRACE_MS, undefined, { ref: false })
      throw new Unavailable(new Error('The final write did not finish in time.'))
    })
  } catch (error) {
    throw error instanceof Unavailable ? outcomeNotStored(current, outcome, error) : error
  }
}

/**
 * The next worker derives the outcome of a model agent from its journal, and a shared one from the cache. Any other one
 * it has to compute again, which counts.
 */
function outcomeNotStored({ version }: Attempt, outcome: Outcome, cause: Unavailable): unknown {
  if (outcome.status === 'SUCCESS' && (!version || kindOf(version) === 'model' || outcome.cached))
    return cause
  const message = 'The agent returned its output, but the database did not store it.'
  return retryableError(outcome.status === 'ERROR' ? outcome.error : { code: 'OutputNotStored', message })
}

/** Ends the execution; null if the lease is lost. @throws Unavailable, WriteRejected */
export async function writeOutcome(current: Attempt, result: Outcome): Promise<Execution | null> {
  return writeCompleted(current, await complete(current, result))
}

const complete = (current: Attempt, result: Outcome): Promise<Outcome> =>
  withJudgement(current, current.journal?.complete(result) ?? result)

async function writeCompleted(current: Attempt, result: Outcome): Promise<Execution | null> {
  const { engine, execution } = current
  const outcome = withKeys(current, result)
  const staysListed = await hasConsequences(current, outcome)
  return engine.executions.finish({ execution, outcome, finishedAt: isoNow(engine.system), staysListed })
}

/** Only an output that is returned is searched for. */
function withKeys({ execution, version }: Attempt, outcome: Outcome): Outcome {
  if (outcome.status !== 'SUCCESS' || (execution.batch && execution.replay?.isTrial)) return outcome
  const keys = readKeys(version?.keys, 'output', outcome.output)
  return keys.length > 0 ? { ...outcome, keys: [...execution.keys, ...keys] } : outcome
}

/** That of a trial says what became of the original. One that cannot be judged ends without. */
async function withJudgement({ execution, recording, scored }: Attempt, outcome: Outcome): Promise<Outcome> {
  if (!execution.replay || !recording) return outcome
  try {
    const { judge } = await import('../replay/judge.ts')
    return { ...outcome, judgement: judge(recording.original, outcome, execution.replay, scored) }
  } catch (error) {
    const { id: executionId, organizationId } = execution
    logger.error('run not judged', { executionId, organizationId, cause: describeCause(error) })
    return outcome
  }
}

/** A parent only waits for a child that was suspended itself; a failed run may leave children that are open. */
async function hasConsequences(
  { engine, execution, version, journal }: Attempt,
  { status }: Outcome,
): Promise<boolean> {
  if (execution.parentExecutionId !== null && execution.waitedMs > 0) return true
  const callsAgents =
    !version ||
    journal?.recorded.some(({ step }) => step.kind === 'CODE' && step.agent !== undefined) ||
    (version.tools as ToolDocument[]).some(({ agent }) => agent !== undefined)
  return status === 'ERROR' && callsAgents && (await hasOpenChildren(engine, execution))
}

/** Also ends its single flight. Best effort: waiting executions also find the result in the record. */
export async function endOf(
  { engine, execution }: Attempt,
  completed: Execution,
  outcome: Outcome,
): Promise<AttemptResult> {
  await storeResult(engine, execution, outcome).catch(() => undefined)
  await afterEnd(engine, completed)
  return { kind: 'completed', execution: completed }
}
