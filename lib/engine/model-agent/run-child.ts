import { sharesWorker, stepLimitsOf, type Version } from '../../core/agent.ts'
import { type Budget, toBudget } from '../../core/budget.ts'
import { type Execution, type ExecutionSummary, isFinal, type LeasedExecution } from '../../core/execution.ts'
import { CANCELLED } from '../../core/execution-errors.ts'
import { cacheKeyOf } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { newExecution } from '../../core/new-execution.ts'
import type { Recording } from '../../core/recording.ts'
import { toOptions } from '../../core/run-options.ts'
import { chooseScorers } from '../../core/run-score.ts'
import type { ScoredRun } from '../../core/score.ts'
import { readKeys } from '../../core/search-keys.ts'
import type { Suspension } from '../../core/wait.ts'
import { ToolError } from '../../tools/tool.ts'
import { NEVER, type WorkerDeadline } from '../checkpoints/deadline.ts'
import type { Journal } from '../checkpoints/journal.ts'
import type { RetryPolicy } from '../checkpoints/stop-reason.ts'
import { endExecution } from '../end-execution.ts'
import { type Engine, newLease, timesOf } from '../engine.ts'
import { waitForCompletion } from '../wait-for-completion.ts'
import { CallWaits } from '../waiting/call-waits.ts'

/** Runs a leased execution; passed in, because the worker that provides it is above this layer. */
export type RunAttempt = (
  engine: Engine,
  execution: LeasedExecution,
  options: { version: Version | undefined; deadline: WorkerDeadline },
) => Promise<
  | { kind: 'completed'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'suspended'; suspension: Suspension }
  | { kind: 'released'; delayMs: number }
>

/** What a run of a version needs, whatever kind of agent it is. */
export type RunParams = {
  engine: Engine
  version: Version
  execution: LeasedExecution
  journal: Journal
  /** Null unless the run takes something from its original. */
  recording: Recording | null
  signal: AbortSignal
  /** When the run or its worker has to stop, in milliseconds since the epoch. */
  endsAt: number
  retry: RetryPolicy
  /** Attempts the runs of agents that it calls. */
  attempt: RunAttempt
}

/** Its id derives from the call's key, so that a resumed parent finds it again. */
export type Child = {
  id: string
  version: Version
  selectedBy: Execution['selectedBy']
  callers: string[]
  input: JsonObject
  share: Budget | null
  /** What it scores. Then it takes the result of an equal run, and learns only if its own version says so. */
  scored?: ScoredRun | undefined
  /** Until its deadline, from its creation on. Absent: until that of the parent. */
  deadlineMs?: number | undefined
  traceparent: string
  signal: AbortSignal
  /** When the parent or its worker has to stop, in milliseconds since the epoch. */
  endsAt: number
}

/**
 * Runs the call as a separate execution. One that began before continues on its version.
 * @throws CallWaits if it is suspended, Unavailable, or the signal's reason when it aborts
 */
export async function runChild(engine: Engine, parent: Execution, attempt: RunAttempt, child: Child) {
  const { id, version, selectedBy, callers, input, traceparent, signal, share, scored } = child
  const { deadlineMs = Number.POSITIVE_INFINITY } = child
  const now = engine.system.now()
  const options = {
    maxAgentSteps: stepLimitsOf(version.execution).default,
    model: null,
    useDynamicLearning: version.useDynamicLearning ?? (!scored && parent.options.useDynamicLearning),
    ...toOptions(toBudget(version.execution, share ?? {})),
  }
  const run = { agentId: version.agentId, versionId: version.id, tenantId: parent.tenantId, input }
  const key = scored ? cacheKeyOf({ ...run, ...options }) : null
  const execution = newExecution({
    ...run,
    id,
    organizationId: parent.organizationId,
    selectedBy,
    tokenId: parent.tokenId,
    keys: readKeys(version.keys, 'input', input),
    scores: isScored(parent) ? chooseScorers(version.scorers, id) : [],
    traceparent,
    options,
    cache: key === null ? null : { key, ttlSeconds: version.execution.cacheTtlSeconds },
    scored: scored ?? (parent.scored && { ...parent.scored, isCallee: true }),
    now,
    deadlineMs: Math.max(Math.min(parent.deadlineAt - now, deadlineMs), 0),
    graceMs: timesOf(engine).graceMs,
    lease: newLease(engine),
    parent: { executionId: parent.id, callers },
    sharesWorker: sharesWorker(version),
  })
  try {
    // A parent that is resumed has created most of its children before.
    const status = parent.attempts > 1 ? await engine.executions.getStatus(execution) : null
    const isNew = status === null && (await engine.executions.create({ execution }))
    const ended = await runToEnd(engine, attempt, child, { execution, isNew })
    // Known here, and to each worker that follows: nobody has to resume the parent for it.
    if (isFinal(ended))
      await engine.executions.settle({ execution: ended, until: null }).catch(() => undefined)
    return ended
  } catch (error) {
    if (signal.aborted && !(error instanceof CallWaits)) await endWithCall(engine, parent, child)
    throw error
  }
}

/** A run that another agent has called does not say whether it began with a trial or a draft. */
const isScored = ({ source, isDraft }: Execution): boolean =>
  !isDraft && ['API', 'BATCH', 'SCHEDULE'].includes(source)

/** Runs it if no other worker does, and waits otherwise: those may all be busy with parents that wait. */
async function runToEnd(
  engine: Engine,
  attempt: RunAttempt,
  child: Child,
  { execution, isNew }: { execution: LeasedExecution; isNew: boolean },
): Promise<Execution> {
  const { executions, system } = engine
  const { organizationId, id } = execution
  const { signal, endsAt: stopsAt } = child
  const times = timesOf(engine)
  let leased = isNew ? execution : null
  let notBefore = 0
  for (;;) {
    signal.throwIfAborted()
    if (leased) {
      const deadline = { drain: NEVER, stop: signal, stopsAt }
      const version = leased.versionId === child.version.id ? child.version : undefined
      const result = await attempt(engine, leased, { version, deadline })
      if (result.kind === 'completed') return result.execution
      if (result.kind === 'suspended') throw waitFor(child, result.suspension)
      if (result.kind === 'released') notBefore = system.now() + result.delayMs
    }
    const summary = await executions.getSummary({ organizationId, id })
    const isOpen = summary !== null && !isFinal(summary)
    if (isOpen && summary.suspension) throw waitFor(child, summary.suspension)
    const waitMs = isOpen ? Math.max(freeAt(summary, times), notBefore) - system.now() : 0
    const claimed =
      isOpen && waitMs < 0
        ? await executions.claim({ id, lease: newLease(engine), now: system.now() })
        : 'held'
    leased = typeof claimed === 'string' ? null : claimed
    if (leased) continue
    const timeoutMs = Math.min(Math.max(waitMs, times.heartbeatMs / 10), times.heartbeatMs)
    const until = 'suspension'
    const completed = await waitForCompletion({ executions, organizationId, id, timeoutMs, signal, until })
    if (completed !== 'IN_PROGRESS') return completed ?? execution
  }
}

/** Its timer, or whatever it waits for, resumes the child without its parent. The end of the child resumes that. */
const waitFor = ({ id, version }: Child, { at }: Suspension): CallWaits =>
  new CallWaits([
    { kind: 'execution', name: version.slug, since: new Date(at).toISOString(), until: null, id },
  ])

/** From when on a worker may claim it: after its lease, or after the delay of its retry. */
function freeAt({ lease, lastError, outages, openUntil }: ExecutionSummary, { graceMs }: LeaseTimes): number {
  if (lease) return lease.expiresAt
  const isRetry = lastError !== null || outages > 0
  return isRetry && openUntil !== null ? openUntil - graceMs : 0
}

/**
 * A child ends with the call that created it: at the tool's timeout, and with its parent. If the parent only lost its
 * worker, the next one finds the child again.
 */
async function endWithCall(engine: Engine, parent: Execution, { id, signal }: Child): Promise<void> {
  const hasTimedOut = signal.reason instanceof ToolError
  if (!hasTimedOut && (await engine.executions.getStatus(parent)) === 'IN_PROGRESS') return
  await endExecution(engine, { organizationId: parent.organizationId, id, error: CANCELLED })
}
