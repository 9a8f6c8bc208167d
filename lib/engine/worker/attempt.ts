import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { resolveVersionOf } from '../../agents/resolve-version.ts'
import { kindOf, type Version } from '../../core/agent.ts'
import { Unavailable, WriteRejected } from '../../core/errors.ts'
import { type Execution, failure, type LeasedExecution, type Outcome } from '../../core/execution.ts'
import {
  attemptsExhausted,
  CANCELLED,
  DEADLINE_EXCEEDED,
  type ExecutionError,
  findExcessiveLoss,
} from '../../core/execution-errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { backoffMs } from '../../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import { findExcess } from '../../core/payload-size.ts'
import type { Recording } from '../../core/recording.ts'
import { readKeys } from '../../core/search-keys.ts'
import type { Release } from '../../core/transitions.ts'
import type { Judgement } from '../../core/trial.ts'
import type { Suspension, Wait } from '../../core/wait.ts'
import { describeCause, logger } from '../../logger.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import { anyOf, timeLimit, untilAborted, type WorkerDeadline } from '../checkpoints/deadline.ts'
import { Journal } from '../checkpoints/journal.ts'
import { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import { liveResponseOf } from '../checkpoints/live-response.ts'
import {
  AttemptStopped,
  INLINE,
  leaseLost,
  nameOf,
  type RetryPolicy,
  retryableError,
  type StopReason,
  toRecordedError,
  uncounted,
  unexpectedError,
} from '../checkpoints/stop-reason.ts'
import { afterEnd, hasOpenChildren, withLosses } from '../end-execution.ts'
import { type Engine, isoNow, timesOf } from '../engine.ts'
import { onceCompleted } from '../wait-for-completion.ts'
import { afterSuspension, suspend } from '../waiting/suspend.ts'
import { reuseResult, storeResult } from './single-flight.ts'

export type AttemptOptions = {
  /** Read unless the caller has it. */
  version?: Version | undefined
  /** Derived from the input unless the caller has it. */
  adaptedInput?: JsonObject | undefined
  /** Asked before the run begins. */
  isCancelled?: (() => Promise<boolean>) | undefined
  /** Called with each heartbeat. */
  onHeartbeat?: (() => Promise<void>) | undefined
  deadline?: WorkerDeadline | undefined
  /** `INLINE` by default. */
  retry?: RetryPolicy | undefined
}

/**
 * The result of one worker's attempt. `lost`: another worker has the lease, or the execution is final. `released`: the
 * lease is free for the next worker; `progressed`: this one stored a step; `hasFailed`: the attempt counts as a
 * failure. `suspended`: until what it waits for has arrived.
 */
export type AttemptResult =
  | { kind: 'completed'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'suspended'; suspension: Suspension }
  | { kind: 'released'; progressed: boolean; hasFailed: boolean; delayMs: number }

/** The state of an attempt while it runs. */
type Attempt = Omit<AttemptOptions, 'onHeartbeat'> & {
  engine: Engine
  execution: LeasedExecution
  retry: RetryPolicy
  heartbeat: LeaseHeartbeat
  /** The lease is lost, or the worker's time is up. */
  stop: AbortSignal
  /** Null until it is open. */
  journal: Journal | null
  /** Of the original of a replay, or of a test case; null until it is read, and for any other run. */
  recording: Recording | null
  /** The scores of a line of a trial, once its output is scored. */
  scored: Pick<Judgement, 'scores' | 'scoring'>
}

/**
 * One worker's attempt at an execution whose lease it holds: to the end, or as far as this worker gets. Whatever goes
 * wrong, the lease is released. Never throws.
 */
export async function attempt(
  engine: Engine,
  execution: LeasedExecution,
  { onHeartbeat, retry = INLINE, ...options }: AttemptOptions = {},
): Promise<AttemptResult> {
  const { executions, system } = engine
  const heartbeat = new LeaseHeartbeat({
    ...{ executions, system, times: timesOf(engine), execution },
    async onHeartbeat() {
      // Readers in other processes may have come since.
      liveResponseOf(execution.id)?.catchUp()
      await onHeartbeat?.()
    },
  })
  const { signal: stop, clear } = options.deadline
    ? anyOf(heartbeat.lost, options.deadline.stop)
    : { signal: heartbeat.lost, clear: () => undefined }
  const current: Attempt = {
    ...options,
    engine,
    execution,
    retry,
    heartbeat,
    stop,
    journal: null,
    recording: null,
    scored: {},
  }
  // A run that is cancelled in this process stops at once, not at its next heartbeat.
  const ignore = onceCompleted(execution.id, () => heartbeat.check().catch(() => undefined))
  try {
    if (!(await heartbeat.start())) return { kind: 'lost' }
    let outcome = await checkAndRun(current).catch((error) => failure(toRejection(error)))
    await score(current, outcome)
    const completed = await finish(current, outcome).catch((error) => {
      outcome = failure(toRejection(error))
      return finish(current, outcome)
    })
    return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
  } catch (error) {
    heartbeat.stop()
    return heartbeat.lost.aborted ? { kind: 'lost' } : await stopAttempt(current, error)
  } finally {
    ignore()
    heartbeat.stop()
    clear()
  }
}

/** @throws AttemptStopped, Unavailable, WriteRejected, or whatever unexpected error the run stops with */
async function checkAndRun(current: Attempt): Promise<Outcome> {
  const { engine, execution } = current
  const checked = await check(current)
  if ('error' in checked) {
    const recorded = await engine.steps.getProgress({ executionId: execution.id })
    return { ...failure(checked.error), ...(await withLosses(engine, execution, recorded)) }
  }
  current.version = checked.version
  return (await reuse(current)) ?? runUntilDeadline(current, checked.version)
}

/** The version to run, or why the execution ends without a run. */
async function check(current: Attempt): Promise<{ version: Version } | { error: ExecutionError }> {
  const { engine, execution, isCancelled } = current
  if (execution.attemptsSinceProgress > MAX_ATTEMPTS) return { error: attemptsExhausted(execution) }
  const version = current.version ?? (await resolveVersionOf(engine.agents, execution))
  if (!version)
    return { error: { code: 'VersionNotFound', message: 'The version of the execution no longer exists.' } }
  return (await isCancelled?.()) ? { error: CANCELLED } : { version }
}

/** The outcome of another execution with the same cache key. The time limit of a run that waits begins after it. */
async function reuse(current: Attempt): Promise<Outcome | null> {
  const { engine, execution, heartbeat, retry, stop } = current
  const reusing = reuseResult({ engine, execution, signal: stop, retry })
  const reuse = await untilAborted(stop, reusing, () => {
    throw new AttemptStopped({ kind: 'WaitingForResult', delayMs: 0 })
  })
  if ('outcome' in reuse) return reuse.outcome
  if (reuse.hasWaited) {
    const startedAt = isoNow(engine.system)
    if (!(await heartbeat.renew({ startedAt }))) throw leaseLost()
    current.execution = { ...execution, startedAt }
  }
  return null
}

/** The run's outcome, or the ERROR of its time limit. @throws AttemptStopped when the worker has to stop first */
async function runUntilDeadline(current: Attempt, version: Version): Promise<Outcome> {
  const { engine, execution, heartbeat, deadline, stop } = current
  const timeout = new AbortController()
  let limit: ReturnType<typeof timeLimit> = { endsAt: execution.deadlineAt, error: DEADLINE_EXCEEDED }
  const start = () => setTimeout(() => timeout.abort(), Math.max(limit.endsAt - engine.system.now(), 0))
  let timer = start()
  /** The time of a run is that of its thread. */
  const begin = () => {
    heartbeat.begin()
    limit = timeLimit(execution, version, engine.system.now())
    clearTimeout(timer)
    timer = start()
  }
  if (!version.code) begin()
  const { signal } = timeout
  const abort = () => timeout.abort()
  if (stop.aborted) abort()
  else stop.addEventListener('abort', abort, { once: true })
  const { steps, onLog, onStep } = engine
  const drain = deadline?.drain
  try {
    const journal = await Journal.open({ steps, execution, heartbeat, drain, onLog, onStep })
    current.journal = journal
    current.recording = engine.recordingOf?.(execution, version) ?? null
    if (execution.replay?.isTrial) {
      const { openRecording } = await import('../replay/recording.ts')
      current.recording = await openRecording(engine, execution, version)
      if (!current.recording) return failure(ORIGINAL_DELETED)
    }
    const excess = findExcessiveLoss(journal.lostSteps, execution.lastError)
    if (excess) return failure(excess)
    const endsAt = Math.min(limit.endsAt, deadline?.stopsAt ?? Number.POSITIVE_INFINITY)
    const running = run(current, { version, journal, signal, endsAt, begin }).then(limitOutput)
    return await untilAborted(signal, running, () => {
      if (stop.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
      return failure(limit.error)
    })
  } finally {
    current.journal?.close()
    clearTimeout(timer)
    stop.removeEventListener('abort', abort)
  }
}

/** Only two outputs can be compared. @throws AttemptStopped when the worker has to stop first, Unavailable */
async function score(current: Attempt, { status, output }: Outcome & { output?: JsonObject }): Promise<void> {
  const { engine, execution, version, journal, recording, stop: signal, deadline, heartbeat } = current
  const isScored = execution.replay?.scorers && recording?.original.output && version && journal
  if (!isScored || status !== 'SUCCESS' || !output) return
  heartbeat.end()
  const { scoreTrial } = await import('../scores/score-trial.ts')
  const line = { execution, version, output, recording, steps: journal.recorded }
  const scoring = scoreTrial({ engine, ...line, attempt, signal, deadline })
  current.scored = await untilAborted(signal, scoring, () => {
    throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
  })
}

const ORIGINAL_DELETED: ExecutionError = {
  code: 'ExecutionNotFound',
  message: 'The execution that this one repeats was deleted.',
}

type Run = { version: Version; journal: Journal; signal: AbortSignal; endsAt: number; begin: () => void }

async function run(current: Attempt, { version, ...running }: Run): Promise<Outcome> {
  const { engine, retry } = current
  const execution = { ...current.execution, input: await adapt(current, version) }
  const params = { engine, execution, version, recording: current.recording, ...running }
  // Loaded on demand: the thread pool, or the SDKs of models and tools.
  try {
    if (version.code) {
      codeAgents ??= import('../code-agent/run.ts')
      return await (await codeAgents).runCodeVersion({ ...params, attempt })
    }
    const { remote } = version
    if (remote) {
      const { runRemoteVersion } = await import('../remote-agent/run.ts')
      return await runRemoteVersion({ ...params, version: { ...version, remote }, retry })
    }
    const { runModelVersion } = await import('../model-agent/run.ts')
    return await runModelVersion({ ...params, retry, attempt })
  } catch (error) {
    const { toSetupFailure } = await import('../model-agent/history/find-failure.ts')
    return toSetupFailure(error, retry)
  }
}

/** A module that is loaded costs another import for each run. */
let codeAgents: Promise<typeof import('../code-agent/run.ts')> | undefined

/** The limit of payloads holds for every kind of agent. */
function limitOutput(outcome: Outcome): Outcome {
  const excess = outcome.status === 'SUCCESS' && findExcess('The output', JSON.stringify(outcome.output))
  return excess ? failure(excess) : outcome
}

/** What the agent receives. The record keeps the input as sent; the rest derives from it and the version. */
async function adapt({ execution, adaptedInput }: Attempt, version: Version): Promise<JsonObject> {
  if (execution.inputAdaptations.length === 0) return execution.input
  if (adaptedInput) return adaptedInput
  const { adapterOf } = await import('../compiled-adapter.ts')
  return adapterOf(version)(execution.input).input
}

/** A run whose data the database rejects ends: a retry would fail in the same way. @throws any other error */
function toRejection(error: unknown): ExecutionError {
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
async function finish(current: Attempt, result: Outcome): Promise<Execution | null> {
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
async function writeOutcome(current: Attempt, result: Outcome): Promise<Execution | null> {
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
async function endOf(
  { engine, execution }: Attempt,
  completed: Execution,
  outcome: Outcome,
): Promise<AttemptResult> {
  await storeResult(engine, execution, outcome).catch(() => undefined)
  await afterEnd(engine, completed)
  return { kind: 'completed', execution: completed }
}

/** Releases a run whose attempt stopped without an outcome, or ends it if no other attempt may follow. Never throws. */
async function stopAttempt(current: Attempt, cause: unknown): Promise<AttemptResult> {
  const reason = await toStopReason(current, cause)
  if (reason.kind === 'LeaseLost') return { kind: 'lost' }
  if (reason.kind === 'Suspended') return suspendRun(current, reason.waits)
  const error = findFinalError(current, reason)
  if (!error) return release(current, reason)
  const outcome = failure(error)
  const completed = await writeOutcome(current, outcome).catch(() => 'failed' as const)
  if (completed === 'failed') return release(current, reason)
  return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
}

async function toStopReason({ execution }: Attempt, cause: unknown): Promise<StopReason> {
  if (cause instanceof AttemptStopped) return cause.reason
  if (cause instanceof Unavailable) return { kind: 'DatabaseUnavailable', reason: nameOf(cause.cause) }
  const ids = { executionId: execution.id, organizationId: execution.organizationId }
  logger.error('attempt failed', { ...ids, cause: describeCause(cause) })
  if (execution.source !== 'TRIAL') {
    const { countFailedAttempt } = await import('../../metrics.ts')
    countFailedAttempt(ids)
  }
  return { kind: 'UnexpectedError', error: unexpectedError(cause) }
}

/**
 * Never throws: a run that cannot be suspended is released, and reaches the wait again. One that was, but may have
 * missed what it waits for, gets the message of one that is released.
 */
async function suspendRun(current: Attempt, waits: Wait[]): Promise<AttemptResult> {
  const { engine, execution, journal, heartbeat } = current
  const { workedMs } = heartbeat
  const recorded = { progress: journal?.hasGrown ? journal.progress : null, ...journal?.losses, workedMs }
  try {
    const suspension = await suspend(engine, execution, waits, recorded).catch(toRejection)
    if (suspension === 'lost') return { kind: 'lost' }
    if ('code' in suspension) {
      const outcome = failure(suspension)
      const completed = await writeOutcome(current, outcome)
      return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
    }
    heartbeat.stop()
    await afterSuspension(engine, execution, suspension)
    if (execution.batch) await engine.afterLine?.(execution).catch(() => undefined)
    return { kind: 'suspended', suspension }
  } catch (error) {
    return release(current, await toStopReason(current, error))
  }
}

/** Null if the run can be released. */
function findFinalError({ execution, journal, retry }: Attempt, reason: StopReason): ExecutionError | null {
  const excess =
    journal?.lostStep && findExcessiveLoss(journal.lostSteps, toRecordedError(reason, journal.lostStep))
  if (excess) return excess
  const isLastAttempt = !journal?.hasGrown && execution.attemptsSinceProgress >= MAX_ATTEMPTS
  if (reason.kind === 'RetryableError' && isLastAttempt) return reason.error
  return reason.kind === 'UnexpectedError' && retry.mode === 'inline' ? reason.error : null
}

/** Best effort: a lease that is not released expires, and its attempt stays counted. */
async function release(current: Attempt, reason: StopReason): Promise<AttemptResult> {
  const { engine, execution, journal, heartbeat } = current
  const { leaseMs, graceMs } = timesOf(engine)
  const error = toRecordedError(reason, journal?.lostStep)
  const progressed = journal?.hasGrown ?? false
  const delayMs = delayOf(current, reason)
  const released: Release = {
    until: engine.system.now() + delayMs + graceMs,
    error,
    progress: progressed && journal ? journal.progress : null,
    ...journal?.losses,
    ...(!journal?.lostStep && uncounted(reason)),
    workedMs: heartbeat.workedMs,
  }
  const { id, lease } = execution
  const hasFailed = error !== null
  return engine.executions.release({ id, owner: lease.owner, ...released }).then(
    () => ({ kind: 'released', progressed, hasFailed, delayMs }),
    () => ({ kind: 'released', progressed, hasFailed, delayMs: Math.max(delayMs, leaseMs) }),
  )
}

/** Until the next attempt: the more of them have failed since the last checkpoint, the longer. */
function delayOf({ engine, execution, journal }: Attempt, reason: StopReason): number {
  if (reason.kind === 'WorkerShuttingDown') return 0
  if (reason.kind === 'WaitingForResult') return reason.delayMs
  const { attemptsSinceProgress, outages } = execution
  return backoffMs(timesOf(engine), {
    failures: journal?.hasGrown ? 1 : attemptsSinceProgress + outages,
    retryAfterMs: (reason.kind === 'RetryableError' && reason.retryAfterMs) || 0,
    jitter: Math.random(),
  })
}
