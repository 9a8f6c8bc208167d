import { resolveVersionOf } from '../../agents/resolve-version.ts'
import { type Batch, blockOf, lineExecutionId } from '../../core/batch.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { LimitExceeded } from '../../core/limit-errors.ts'
import { DEADLINE_MS, MAX_AGENT_STEPS } from '../../core/limits.ts'
import { failedExecution } from '../../core/new-execution.ts'
import { InvalidQueryParameter } from '../../core/request-errors.ts'
import { readKeys } from '../../core/search-keys.ts'
import { describeReached, ownerOf } from '../../core/usage-limits.ts'
import { describeCause, logger } from '../../logger.ts'
import { unexpectedError } from '../checkpoints/stop-reason.ts'
import { enqueue } from '../submit/accept.ts'
import { record } from '../submit/record.ts'
import { buildRunRequest, type RunRequest } from '../submit/run-request.ts'
import type { BatchEngine } from './batch-engine.ts'
import { type LineRun, repeatOriginal } from './trial-line.ts'

/**
 * Records the execution of a line, unless it is recorded, and enqueues it. It is final at once if its result is cached,
 * and if it cannot be run. Null if the batch was stopped before.
 * @throws TooManyRequests, LimitExceeded, Unavailable
 */
export async function startLine(
  engine: BatchEngine,
  batch: Batch,
  { line, lane }: { line: number; lane: number },
): Promise<Execution | null> {
  const { customId, input } = await readLine(engine, batch, line)
  const executionId = lineExecutionId(batch, line)
  const { tokenId, tenantId, selectedBy, options: overrides, trial } = batch
  const run: LineRun = trial
    ? await repeatOriginal(engine, { ...batch, trial }, customId)
    : { input, tenantId, overrides }
  const { replay = null, learnedFrom = null } = run
  const origin = {
    tokenId,
    selectedBy,
    batch: { id: batch.id, customId, line, lane },
    replay,
    learnedFrom,
  }
  const fail = async (error: ExecutionError) => {
    const { organizationId, agentId, versionId, isDraft } = batch
    const owner = { id: executionId, organizationId, agentId, versionId, isDraft, tenantId: run.tenantId }
    const version = trial ? null : await resolveVersionOf(engine.agents, batch)
    const keys = readKeys(version?.keys, 'input', run.input)
    const given = { ...owner, input: run.input, keys, options: optionsOf(run), ...origin }
    const times = { now: engine.system.now(), deadlineMs: DEADLINE_MS }
    const execution = failedExecution({ ...given, ...times }, error)
    return (await engine.executions.create({ execution })) ? execution : engine.executions.get(execution)
  }
  const prepared = run.error ?? (await prepare(engine, batch, run))
  if ('code' in prepared) return fail(prepared)
  const ids = { executionId, idempotencyId: null, isBound: true }
  try {
    const recorded = await record(engine, { ...prepared, ...origin }, ids, null)
    if (recorded?.isNew) await enqueue(engine, recorded.execution)
    return recorded?.execution ?? null
  } catch (error) {
    if (trial && error instanceof LimitExceeded && isOfCost(error)) return fail(usedUp(error))
    if (error instanceof InvalidQueryParameter) return fail(toExecutionError(error))
    throw error
  }
}

/** It lasts for up to a month. A trial has lines of many tenants, and must not wait for one of them. */
const isOfCost = ({ reached }: LimitExceeded): boolean => reached.limit.startsWith('maxCostUsd')

const usedUp = ({ code, reached }: LimitExceeded): ExecutionError => {
  const { subject, limit, max } = reached
  return { code, message: describeReached(reached), ...ownerOf(subject), limit, max }
}

/** @throws Unavailable */
async function readLine({ blocks }: BatchEngine, batch: Batch, line: number) {
  const block = blockOf(batch, line)
  const lines = await blocks.fetch(`${batch.id}/${block}`, { context: { batch, block } })
  const found = lines?.[line - (batch.blocks[block]?.first ?? 0)]
  if (!found) throw new Unavailable(new Error(`Line ${line} of the batch ${batch.id} is missing.`))
  return found
}

/** The request of a line, or why it cannot be run. @throws Unavailable */
async function prepare(
  { agents }: BatchEngine,
  batch: Batch,
  { input, tenantId, overrides }: LineRun,
): Promise<RunRequest | ExecutionError> {
  const version = await resolveVersionOf(agents, batch)
  if (!version) return { code: 'VersionNotFound', message: 'The version of the execution no longer exists.' }
  try {
    return await buildRunRequest(version, input, { ...overrides, tenantId: tenantId ?? undefined })
  } catch (error) {
    if (error instanceof Unavailable) throw error
    if (error instanceof ServiceError) return toExecutionError(error)
    logger.error('line not prepared', { batchId: batch.id, cause: describeCause(error) })
    return unexpectedError(error)
  }
}

const toExecutionError = ({ code, message, errors }: ServiceError): ExecutionError => ({
  code,
  message,
  ...(errors && { errors }),
})

const optionsOf = ({ overrides: { maxAgentSteps, model, useDynamicLearning } }: LineRun) => ({
  maxAgentSteps: maxAgentSteps ?? MAX_AGENT_STEPS.default,
  model: model ?? null,
  useDynamicLearning: useDynamicLearning ?? false,
})
