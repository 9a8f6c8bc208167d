import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import type { Version } from '../../core/agent.ts'
import { Unavailable, WriteRejected } from '../../core/errors.ts'
import { type Execution, failure, type LeasedExecution, type Outcome } from '../../core/execution.ts'
import { findExcessiveLoss } from '../../core/transitions.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { Journal } from '../checkpoints/journal.ts'
import { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import { INLINE, type RetryPolicy } from '../checkpoints/retry-policy.ts'
import { AttemptStopped, leaseLost, retryableError } from '../checkpoints/stop-reason.ts'
import { onceCompleted } from '../completion-events.ts'
import { type Engine, isoNow, timesOf } from '../engine.ts'
import { reuseResult } from './single-flight.ts'
import { stopAttempt } from './stop-attempt.ts'
import { type AttemptResult, endOf, type Run, writeOutcome } from './write-outcome.ts'

export type AttemptOptions = {
  /** Called with each heartbeat. */
  onHeartbeat?: (() => Promise<void>) | undefined
  deadline?: WorkerDeadline | undefined
  /** `INLINE` by default. */
  retry?: RetryPolicy | undefined
}

/** The state of an attempt while it runs. */
type Attempt = Run & {
  version: Version
  heartbeat: LeaseHeartbeat
  deadline: WorkerDeadline | undefined
  /** The lease is lost, or the worker's time is up. */
  stop: AbortSignal
}

/** One worker's attempt at an execution whose lease it holds: to the end, or as far as this worker gets. */
export async function attempt(
  engine: Engine,
  execution: LeasedExecution,
  version: Version,
  { onHeartbeat, deadline, retry = INLINE }: AttemptOptions = {},
): Promise<AttemptResult> {
  const { executions, system } = engine
  const heartbeat = new LeaseHeartbeat({ executions, system, times: timesOf(engine), execution, onHeartbeat })
  const stop = deadline ? AbortSignal.any([heartbeat.lost, deadline.stop]) : heartbeat.lost
  const current: Attempt = { engine, execution, version, heartbeat, deadline, stop, retry, journal: null }
  // A run that is cancelled in this process stops at once, not at its next heartbeat.
  const ignore = onceCompleted(execution.id, () => heartbeat.check().catch(() => undefined))
  try {
    if (!(await heartbeat.start())) return { kind: 'lost' }
    let outcome = await reuseOrRun(current).catch(toRejection)
    const completed = await finish(current, outcome).catch((error) => {
      outcome = toRejection(error)
      return finish(current, outcome)
    })
    return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
  } catch (error) {
    heartbeat.stop()
    return heartbeat.lost.aborted ? { kind: 'lost' } : await stopAttempt(current, error)
  } finally {
    ignore()
    heartbeat.stop()
  }
}

/** A run whose data the database rejects ends: a retry would fail in the same way. @throws any other error */
function toRejection(error: unknown): Outcome {
  if (!(error instanceof WriteRejected)) throw error
  return failure({ code: 'AgentFailed', message: error.message })
}

/** Interval of the retries of a final write, and how long one may take after the worker's time is up. */
const FINISH_RETRY_MS = 500
const FINISH_GRACE_MS = 2_000

/**
 * Null if the lease is lost. A result is not discarded because the database is unavailable for a moment: the write is retried
 * for as long as a lease lasts, unless the worker's time or the execution's is up before.
 * @throws Unavailable or AttemptStopped then
 */
async function finish(current: Attempt, outcome: Outcome): Promise<Execution | null> {
  const { engine, execution, stop } = current
  const { system } = engine
  const abort = onceAborted(stop)
  const giveUpAt = Math.min(system.now() + timesOf(engine).leaseMs, execution.deadlineAt)
  const isInTime = () => !stop.aborted && system.now() + FINISH_RETRY_MS < giveUpAt
  try {
    return await Promise.race([
      pRetry(() => writeOutcome(current, outcome), {
        retries: Number.POSITIVE_INFINITY,
        factor: 1,
        minTimeout: FINISH_RETRY_MS,
        shouldRetry: ({ error }) => error instanceof Unavailable && isInTime(),
      }),
      abort.happened.then(async () => {
        await sleep(FINISH_GRACE_MS, undefined, { ref: false })
        throw new Unavailable(new Error('The final write did not finish in time.'))
      }),
    ])
  } catch (error) {
    throw error instanceof Unavailable ? outcomeNotStored(current, outcome, error) : error
  } finally {
    abort.ignore()
  }
}

/**
 * The next worker derives the outcome of a model agent from its journal, and a shared one from the cache. Any other one it has
 * to compute again, which counts.
 */
function outcomeNotStored({ version }: Attempt, outcome: Outcome, cause: Unavailable): unknown {
  if (outcome.status === 'SUCCESS' && (!version.code || outcome.cached)) return cause
  const message = 'The agent returned its output, but the database did not store it.'
  return retryableError(outcome.status === 'ERROR' ? outcome.error : { code: 'OutputNotStored', message })
}

/** A run that has waited for another one begins after that: its time limit is for its own work. */
async function reuseOrRun(current: Attempt): Promise<Outcome> {
  const { engine, execution, heartbeat, retry, stop } = current
  const abort = onceAborted(stop)
  const reuse = await Promise.race([
    reuseResult({ engine, execution, signal: stop, retry }),
    abort.happened.then((): never => {
      throw new AttemptStopped({ kind: 'WaitingForResult', delayMs: 0 })
    }),
  ]).finally(abort.ignore)
  if ('outcome' in reuse) return reuse.outcome
  if (reuse.hasWaited) {
    const startedAt = isoNow(engine.system)
    if (!(await heartbeat.renew({ startedAt }))) throw leaseLost()
    current.execution = { ...execution, startedAt }
  }
  return runUntilDeadline(current)
}

/** The run's outcome, or ERROR `TimedOut`. @throws AttemptStopped when the worker has to stop first */
async function runUntilDeadline(current: Attempt): Promise<Outcome> {
  const { engine, execution, version, heartbeat, deadline, stop } = current
  const limit = timeLimit(execution, version)
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), Math.max(limit.endsAt - engine.system.now(), 0))
  const signal = AbortSignal.any([stop, timeout.signal])
  const abort = onceAborted(signal)
  try {
    const journal = await Journal.open({
      steps: engine.steps,
      execution,
      heartbeat,
      drain: deadline?.drain,
      onLog: engine.onLog,
      onStep: engine.onStep,
    })
    current.journal = journal
    const excess = findExcessiveLoss(journal.lostSteps, execution.lastError)
    if (excess) return failure(excess)
    const running = run(current, journal, signal)
    // It may reject after it was abandoned below, when nobody awaits it.
    running.catch(() => undefined)
    return await Promise.race([
      running,
      abort.happened.then((): Outcome => {
        if (stop.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
        return timedOut(limit.seconds)
      }),
    ])
  } finally {
    abort.ignore()
    current.journal?.close()
    clearTimeout(timer)
  }
}

/** When the run's time is up, across all its attempts: the version's timeout or the execution's deadline. */
function timeLimit({ startedAt, createdAt, deadlineAt }: Execution, { execution }: Version) {
  const since = Date.parse(startedAt ?? createdAt)
  const timeoutAt =
    execution.timeoutSeconds === null ? Number.POSITIVE_INFINITY : since + execution.timeoutSeconds * 1000
  const endsAt = Math.min(timeoutAt, deadlineAt)
  return { endsAt, seconds: Math.round((endsAt - since) / 1000) }
}

async function run(current: Attempt, journal: Journal, signal: AbortSignal): Promise<Outcome> {
  const { engine, execution: recorded, version, retry } = current
  const execution = await withAdaptedInput(recorded, version)
  // Loaded on demand: the thread pool, or the SDKs of models and tools.
  try {
    if (version.code) {
      const { runCodeVersion } = await import('../code-agent/run.ts')
      return await runCodeVersion({ engine, execution, version, journal, signal })
    }
    const { runModelVersion } = await import('../model-agent/run.ts')
    return await runModelVersion({ engine, execution, version, journal, signal, retry, attempt })
  } catch (error) {
    const { toOutcome } = await import('./known-errors.ts')
    return toOutcome(error, retry)
  }
}

/** The record keeps the input as sent; what the agent receives is derived from it and the version. */
async function withAdaptedInput(execution: LeasedExecution, version: Version): Promise<LeasedExecution> {
  if (execution.inputAdaptations.length === 0) return execution
  const { adapterOf } = await import('../compiled-adapter.ts')
  return { ...execution, input: adapterOf(version)(execution.input).input }
}

const timedOut = (seconds: number): Outcome =>
  failure({ code: 'TimedOut', message: `The run did not finish within ${seconds} seconds.` })

/**
 * Node retains a combined signal for as long as it has a listener and one of its sources can abort. With it, this promise
 * retains what it was raced against: the run's output.
 */
function onceAborted(signal: AbortSignal): { happened: Promise<void>; ignore: () => void } {
  const { promise: happened, resolve } = Promise.withResolvers<void>()
  const onAbort = () => resolve()
  if (signal.aborted) resolve()
  else signal.addEventListener('abort', onAbort, { once: true })
  return { happened, ignore: () => signal.removeEventListener('abort', onAbort) }
}
