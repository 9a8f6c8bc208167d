import type { Execution, LeasedExecution, Outcome } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { NO_USAGE } from '../../core/model-usage.ts'
import { hasUsedAllSteps } from '../../core/run-options.ts'
import { AttemptStopped, type RetryPolicy } from '../checkpoints/stop-reason.ts'
import type { Engine } from '../engine.ts'
import { waitForCompletion } from '../wait-for-completion.ts'

type Params = { engine: Engine; execution: LeasedExecution; signal: AbortSignal; retry: RetryPolicy }

export type Reuse = { outcome: Outcome } | { hasWaited: boolean }

/** A requeued run checks again after as long as it has waited so far, within these limits. */
const MIN_REQUEUE_MS = 1_000
const MAX_REQUEUE_MS = 30_000

/**
 * Of concurrent executions with the same cache key, one computes the result and the others reuse it. Without an
 * outcome, this execution is to run: it holds the reservation, or it has waited for one that failed.
 * @throws the signal's reason when it aborts; AttemptStopped `WaitingForResult` if the run can be requeued while the
 * other one is running
 */
export async function reuseResult({ engine, execution, signal, retry }: Params): Promise<Reuse> {
  const { cache, executions, system } = engine
  const { id, organizationId } = execution
  // A run that has waited gave up its reservation, and goes on with its own steps.
  if (!execution.cache || execution.waitedMs > 0) return { hasWaited: false }
  const { key } = execution.cache
  const reserve = (replaces: string | null) =>
    cache.reserve({ key, executionId: id, replaces, now: system.now() })

  const entry = await reserve(null)
  if (entry.executionId === id) return { hasWaited: false }
  if (entry.output) return { outcome: reused(entry.executionId, entry.output) }

  const leader = { organizationId, id: entry.executionId }
  const timeoutMs = retry.mode === 'requeue' ? 0 : Number.POSITIVE_INFINITY
  const completed = await waitForCompletion({ executions, ...leader, timeoutMs, signal, until: 'suspension' })
  // A run that waits has given up its reservation.
  const isSuspended = completed === 'IN_PROGRESS' && retry.mode === 'inline'
  if (completed === 'IN_PROGRESS' && !isSuspended) {
    throw new AttemptStopped({ kind: 'WaitingForResult', delayMs: requeueDelay(execution, system.now()) })
  }
  if (
    completed !== 'IN_PROGRESS' &&
    completed?.output &&
    isReusable(completed, execution.cache.ttlSeconds, system.now())
  ) {
    // Without its entry, the result was rejected, or its execution deleted.
    const kept = await cache.get({ key, now: system.now() })
    if (kept?.executionId === leader.id) return { outcome: reused(leader.id, completed.output) }
  }
  await reserve(leader.id)
  return { hasWaited: true }
}

/** If the result could not be stored, it is reused from the record for as long as the cache entry would have lived. */
function isReusable(completed: Execution, ttlSeconds: number | null, now: number): boolean {
  if (hasUsedAllSteps(completed, completed.options)) return false
  return ttlSeconds === null || Date.parse(completed.finishedAt ?? '') + ttlSeconds * 1000 > now
}

/**
 * Stores the result for later executions with the same cache key. After an error, and after a last step that the limit
 * forced, frees the key.
 */
export async function storeResult({ cache, system }: Engine, execution: LeasedExecution, outcome: Outcome) {
  if (!execution.cache || (outcome.status === 'SUCCESS' && outcome.cached)) return
  const { key, ttlSeconds } = execution.cache
  const executionId = execution.id
  if (outcome.status !== 'SUCCESS' || hasUsedAllSteps(outcome, execution.options))
    return cache.drop({ key, executionId })
  const expiresAt = ttlSeconds === null ? null : system.now() + ttlSeconds * 1000
  await cache.store({ key, executionId, output: outcome.output, expiresAt })
}

function reused(cachedExecutionId: string, output: JsonObject): Outcome {
  const nothing = { steps: 0, usage: NO_USAGE, model: null }
  return { status: 'SUCCESS', output, ...nothing, cached: true, cachedExecutionId }
}

const requeueDelay = ({ createdAt }: LeasedExecution, now: number): number =>
  Math.min(Math.max(now - Date.parse(createdAt), MIN_REQUEUE_MS), MAX_REQUEUE_MS)
