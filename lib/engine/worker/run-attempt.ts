import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import { failure, type Outcome } from '../../core/execution.ts'
import {
  attemptsExhausted,
  CANCELLED,
  DEADLINE_EXCEEDED,
  type ExecutionError,
  findExcessiveLoss,
} from '../../core/execution-errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import { findExcess } from '../../core/payload-size.ts'
import { timeLimit, untilAborted } from '../checkpoints/deadline.ts'
import { Journal } from '../checkpoints/journal.ts'
import { AttemptStopped, leaseLost } from '../checkpoints/stop-reason.ts'
import { withLosses } from '../end-execution.ts'
import { isoNow } from '../engine.ts'
import type { Attempt } from './attempt-state.ts'
import { reuseResult } from './single-flight.ts'

/** @throws AttemptStopped, Unavailable, WriteRejected, or whatever unexpected error the run stops with */
export async function checkAndRun(current: Attempt): Promise<Outcome> {
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
export async function score(current: Attempt, outcome: Outcome): Promise<void> {
  const { engine, execution, version, journal, recording, stop: signal, heartbeat } = current
  const isScored = execution.replay?.scorers && recording?.original.output && version && journal
  if (!isScored || outcome.status !== 'SUCCESS') return
  heartbeat.end()
  const { scoreTrial } = await import('../scores/score-trial.ts')
  const line = { execution, version, output: outcome.output, recording, steps: journal.recorded }
  const { attempt, deadline } = current
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
  const { engine, retry, attempt } = current
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
