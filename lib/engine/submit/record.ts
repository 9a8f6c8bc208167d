import { sharesWorker } from '../../core/agent.ts'
import type { Execution } from '../../core/execution.ts'
import { timeOfId } from '../../core/ids.ts'
import { type Lease, MAX_GRACE } from '../../core/lease-times.ts'
import { LimitExceeded, TooManyRequests } from '../../core/limit-errors.ts'
import { DEADLINE_MS } from '../../core/limits.ts'
import {
  cachedExecution,
  type NewExecution,
  newExecution,
  queuedExecution,
} from '../../core/new-execution.ts'
import { chooseScorers } from '../../core/run-score.ts'
import { readKeys } from '../../core/search-keys.ts'
import type { Admit } from '../../limits/admission.ts'
import { type Admitted, admitLimited } from '../../limits/limits.ts'
import { type Engine, timesOf } from '../engine.ts'
import { startQueued } from '../queued-runs.ts'
import { maxWaitMsOf } from '../waiting/suspend.ts'
import { checkLimitedModel } from './limited-models.ts'
import type { Reserved } from './reserve-id.ts'
import type { RunRequest } from './run-request.ts'

/**
 * Records an execution, or finds the one with its id; null if that was deleted. A cache hit is final at once, and
 * counts towards no limit. `isNew`: it has to be enqueued, or run.
 * @throws TooManyRequests, LimitExceeded, InvalidQueryParameter for a model that evades a cost limit
 */
export async function record(
  engine: Engine & { admit: Admit },
  request: RunRequest,
  ids: Reserved,
  lease: Lease | null,
  mayQueue = lease === null,
): Promise<{ execution: Execution; isNew: boolean } | null> {
  const { executions } = engine
  // A trial has a limit of its own: without a price, its lines call no model.
  if (request.replay?.maxTrialCostUsd === undefined)
    await checkLimitedModel(engine.limits, { ...request, ...request.options }, engine.environment)
  const cached = await recordCacheHit(engine, request, ids)
  if (cached) return { execution: cached, isNew: false }
  const params = newExecutionParams(engine, request, ids)
  const isShared = ids.isBound || ids.idempotencyId !== null
  let admitted: Admitted | null
  try {
    admitted = await admitToLimits(engine, params, { isShared, mayQueue })
  } catch (error) {
    const existing = isShared && error instanceof LimitExceeded ? await executions.get(params) : null
    if (!existing) throw error
    return { execution: existing, isNew: false }
  }
  const limited = admitted ? { ...params, limits: admitted.subjects } : params
  const execution = admitted?.full
    ? queuedExecution(limited, maxWaitMsOf(engine))
    : newExecution({ ...limited, lease })
  const create = () => executions.create({ execution })
  // One that is queued is not in progress.
  const creating = admitted?.full ? create() : engine.admit(execution.organizationId, create)
  const isCreated = await creating.catch(async (error: unknown) => {
    const isFree = error instanceof TooManyRequests || (admitted && (await isRefused(engine, params, ids)))
    if (isFree) await admitted?.withdraw()
    throw error
  })
  if (isCreated) return { execution, isNew: true }
  const stored = await executions.get(execution)
  // Our own record if the response to the first write was lost: nobody else has this new id.
  const isOwn = lease ? stored?.lease?.owner === lease.owner : !isShared
  if (!isOwn) await admitted?.withdraw()
  return stored && { execution: stored, isNew: isOwn }
}

/** Whether an execution whose record could not be written will have none. What repeats itself keeps its id. */
const isRefused = (
  { executions, system }: Engine,
  { id, organizationId }: Pick<Execution, 'id' | 'organizationId'>,
  { isBound, idempotencyId }: Reserved,
): Promise<boolean> | false =>
  (!isBound || idempotencyId !== null) &&
  executions.refuse({ organizationId, id, idempotencyId, now: system.now() }).catch(() => false)

/**
 * Counts a run towards the limits of its tenant and its agent.
 * @throws LimitExceeded, also if the organization can have no further execution that waits
 */
async function admitToLimits(
  engine: Engine,
  params: Omit<NewExecution, 'lease'>,
  { isShared, mayQueue }: { isShared: boolean; mayQueue: boolean },
): Promise<Admitted | null> {
  const { executions, limits, maySuspend, system, warnAtLimit } = engine
  if (!limits) return null
  const isRecorded = async () => isShared && (await executions.getStatus(params)) === 'IN_PROGRESS'
  const admitted = await admitLimited(
    limits,
    { ...params, mayQueue },
    {
      now: system.now,
      isRecorded,
      startQueued: (slot) => startQueued({ ...engine, limits }, slot).catch(() => undefined),
      warnAtLimit,
    },
  )
  if (!admitted?.full || !maySuspend || (await maySuspend(params.organizationId))) return admitted
  await admitted.withdraw()
  throw admitted.full
}

/** A cache hit is a separate execution, final at creation. Null on a miss. */
async function recordCacheHit(engine: Engine, request: RunRequest, reservation: Reserved) {
  if (!request.cache) return null
  const { cache, executions, system } = engine
  const entry = await cache.get({ key: request.cache.key, now: system.now() })
  if (!entry?.output) return null
  const params = newExecutionParams(engine, request, reservation)
  const keys = [...(params.keys ?? []), ...readKeys(request.version.keys, 'output', entry.output)]
  const execution = cachedExecution({ ...params, keys }, entry.executionId, entry.output)
  // The time in the id may have been taken long before.
  const isNew = await executions.create({ execution, countedAt: system.now() })
  return isNew ? execution : executions.get(execution)
}

export function newExecutionParams(
  engine: Engine,
  request: RunRequest,
  { executionId, idempotencyId, isBound }: Reserved,
): Omit<NewExecution, 'lease'> {
  const { version, input, inputAdaptations = [], adaptedInput, tenantId, options } = request
  const { tokenId = null, webhookUrl = null, cache = null, batch = null, schedule = null } = request
  const { replay = null, learnedFrom = null, watchedUntil = null, traceparent = null } = request
  const { scored = null } = request
  const isProduction = !scored && !replay?.isTrial && version.status !== 'DRAFT'
  return {
    id: executionId,
    organizationId: version.organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId,
    tokenId,
    webhookUrl,
    input,
    inputAdaptations,
    options,
    idempotencyId,
    // The time in the id: lists compare `from` and `to` with it.
    now: isBound ? engine.system.now() : timeOfId(executionId),
    deadlineMs: DEADLINE_MS,
    // The message of a firing sends it again if it must. Thousands may be due at the same minute.
    graceMs: timesOf(engine).graceMs * (schedule ? MAX_GRACE : 1),
    cache,
    // Scorers may have code.
    sharesWorker: sharesWorker(version) && !replay?.scorers,
    isDraft: version.status === 'DRAFT',
    batch,
    schedule,
    ...(request.selectedBy && { selectedBy: request.selectedBy }),
    replay,
    ...(scored?.production && { parent: { executionId: scored.executionId, callers: [] } }),
    scored,
    scores: isProduction ? chooseScorers(version.scorers, executionId) : [],
    learnedFrom,
    traceparent,
    watchedUntil,
    // Only its trial lists a line of one.
    keys: batch && replay?.isTrial ? [] : readKeys(version.keys, 'input', adaptedInput ?? input, input),
  }
}
