import pRetry from 'p-retry'
import type { Version } from '../../core/agent.ts'
import { Unavailable, WriteRejected } from '../../core/errors.ts'
import {
  type Execution,
  type ExecutionError,
  failure,
  type LeasedExecution,
  type Outcome,
} from '../../core/execution.ts'
import { backoffMs } from '../../core/lease-times.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { Journal } from '../checkpoints/journal.ts'
import { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import { INLINE, type RetryPolicy } from '../checkpoints/retry-policy.ts'
import { AttemptStopped, type StopReason } from '../checkpoints/stop-reason.ts'
import { onceCompleted } from '../completion-events.ts'
import { type Engine, isoNow, timesOf } from '../engine.ts'
import { reuseResult, storeResult } from './single-flight.ts'

export type AttemptOptions = {
  /** Called with each heartbeat. */
  onHeartbeat?: (() => Promise<void>) | undefined
  deadline?: WorkerDeadline | undefined
  /** `INLINE` by default. */
  retry?: RetryPolicy | undefined
}

/**
 * The result of one worker's attempt. `lost`: another worker has the lease, or the execution is final. `released`: the
 * lease is free for the next worker; `progressed`: this one stored a step; `hasFailed`: after a retryable error.
 */
export type AttemptResult =
  | { kind: 'completed'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'released'; progressed: boolean; hasFailed: boolean; delayMs: number }

/** The state of an attempt while it runs. */
type Attempt = {
  engine: Engine
  execution: LeasedExecution
  version: Version
  heartbeat: LeaseHeartbeat
  deadline: WorkerDeadline | undefined
  retry: RetryPolicy
  /** Null until it is open. */
  journal: Journal | null
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
  const current: Attempt = { engine, execution, version, heartbeat, deadline, retry, journal: null }
  // A run that is cancelled in this process stops at once, not at its next heartbeat.
  const ignore = onceCompleted(execution.id, () => heartbeat.check().catch(() => undefined))
  try {
    if (!(await heartbeat.start())) return { kind: 'lost' }
    const outcome = await runUntilDeadline(current).catch(toRejection)
    const completed = await finish(current, outcome).catch((error) => finish(current, toRejection(error)))
    if (!completed) return { kind: 'lost' }
    // Best effort: waiting executions also find the result in the record.
    await storeResult(engine, execution, outcome).catch(() => undefined)
    return { kind: 'completed', execution: completed }
  } catch (error) {
    if (heartbeat.lost.aborted) return { kind: 'lost' }
    return await stop(current, stopReasonOf(error))
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

/** With what the journal knows of the run, however it ended. */
function withJournal(outcome: Outcome, journal: Journal | null): Outcome {
  if (!journal) return outcome
  const { logs, progress } = journal
  const { model, ...counts } = progress
  const recorded = { ...counts, ...(model !== null && { model }) }
  return { ...(outcome.status === 'ERROR' && recorded), ...outcome, ...(logs && { logs }) }
}

/** @throws the error if it is not a reason to stop, but a defect */
function stopReasonOf(error: unknown): StopReason {
  if (error instanceof AttemptStopped) return error.reason
  if (error instanceof Unavailable) return { kind: 'DatabaseUnavailable' }
  throw error
}

async function stop(current: Attempt, reason: StopReason): Promise<AttemptResult> {
  switch (reason.kind) {
    case 'LeaseLost':
      return { kind: 'lost' }
    case 'WorkerShuttingDown':
      return release(current, { delayMs: 0, error: null })
    case 'WaitingForResult':
      return release(current, { delayMs: reason.delayMs, error: null, isCounted: false })
    case 'DatabaseUnavailable':
      return release(current, { delayMs: retryDelay(current, null), error: null, isCounted: false })
    case 'RetryableError':
      return release(current, { delayMs: retryDelay(current, reason.retryAfterMs), error: reason.error })
  }
}

/** A run that has progressed since its message was received starts its backoff again. */
function retryDelay({ engine, retry, journal }: Attempt, retryAfterMs: number | null): number {
  if (retry.mode === 'inline') return 0
  return backoffMs(timesOf(engine), {
    receiveCount: journal?.hasGrown ? 1 : retry.receiveCount,
    retryAfterMs: retryAfterMs ?? 0,
    jitter: Math.random(),
  })
}

type Release = { delayMs: number; error: ExecutionError | null; isCounted?: boolean }

/** Best effort: a lease that is not released expires. */
async function release(
  { engine, execution, heartbeat, journal }: Attempt,
  { delayMs, error, isCounted = true }: Release,
): Promise<AttemptResult> {
  heartbeat.stop()
  const { executions, system } = engine
  const { id, lease } = execution
  const until = system.now() + delayMs + timesOf(engine).graceMs
  const progress = journal?.hasGrown ? journal.progress : null
  await executions
    .release({ id, owner: lease.owner, until, error, progress, isCounted })
    .catch(() => undefined)
  return { kind: 'released', progressed: journal?.hasGrown ?? false, hasFailed: error !== null, delayMs }
}

const FINISH_RETRY_MS = 500

/** Null if the lease is lost. A result is not discarded because the database is unavailable: the write is retried while the lease lasts. */
async function finish(
  { engine, execution, heartbeat, journal }: Attempt,
  result: Outcome,
): Promise<Execution | null> {
  const outcome = withJournal(result, journal)
  const finishedAt = isoNow(engine.system)
  return pRetry(() => engine.executions.finish({ execution, outcome, finishedAt }), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: FINISH_RETRY_MS,
    signal: heartbeat.lost,
    shouldRetry: ({ error }) => error instanceof Unavailable,
  })
}

/** The run's outcome, or ERROR `TimedOut`. @throws AttemptStopped when the worker has to stop first */
async function runUntilDeadline(current: Attempt): Promise<Outcome> {
  const { engine, execution, version, heartbeat, deadline } = current
  const limit = timeLimit(execution, version)
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), limit.endsAt - engine.system.now())
  const stopSignal = deadline ? AbortSignal.any([heartbeat.lost, deadline.stop]) : heartbeat.lost
  const signal = AbortSignal.any([stopSignal, timeout.signal])
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
    const running = run(current, journal, signal)
    // It may reject after it was abandoned below, when nobody awaits it.
    running.catch(() => undefined)
    return await Promise.race([
      running,
      abort.happened.then((): Outcome => {
        if (stopSignal.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
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

async function run(
  { engine, execution: recorded, version, retry }: Attempt,
  journal: Journal,
  signal: AbortSignal,
): Promise<Outcome> {
  const reused = await reuseResult({ engine, execution: recorded, signal, retry })
  if (reused) return reused
  const execution = await withAdaptedInput(recorded, version)
  // Loaded on demand: the thread pool, or the SDKs of models and tools.
  if (version.code) {
    const { runCodeVersion } = await import('../code-agent/run.ts')
    return runCodeVersion({ engine, execution, version, journal, signal })
  }
  const { runModelVersion } = await import('../model-agent/run.ts')
  return runModelVersion({ engine, execution, version, journal, signal, retry, attempt })
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
