import { refusalOf, resolveVersion, resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import { TooManyRequests } from '../../core/limit-errors.ts'
import type { DeliveryResult } from '../../core/notification.ts'
import { findExcess } from '../../core/payload-size.ts'
import { findLowScore, scoreExecutionId, scoreOf } from '../../core/run-score.ts'
import type { RunScore } from '../../core/score.ts'
import { readSetting } from '../../environment.ts'
import { type Admit, admission } from '../../limits/admission.ts'
import { describeCause, logger } from '../../logger.ts'
import { countLowScore } from '../../metrics.ts'
import { unexpectedError } from '../checkpoints/stop-reason.ts'
import { type Engine, readTimes } from '../engine.ts'
import { toScorerInput } from '../scores/scorer-input.ts'
import { enqueue } from './accept.ts'
import { record } from './record.ts'
import { buildRunRequest } from './run-request.ts'

export type ScoreEngine = Engine & { admit: Admit }

/** With the limit of the environment. */
export const openScoreEngine = (parts: Omit<ScoreEngine, 'admit'>): ScoreEngine => ({
  times: readTimes(),
  ...parts,
  admit: admission(parts, readSetting('maxOpenExecutions')),
})

const DONE: DeliveryResult = { ok: true, responseStatus: null, error: null, isGone: false }

/**
 * What follows from the end of an execution: of one that scorers have been chosen for, their runs begin; of one that
 * scores another one, that gets the result. Repeating it changes nothing.
 * @throws Unavailable
 */
export async function scoreRun(
  engine: ScoreEngine,
  execution: Execution | ExecutionSummary,
): Promise<DeliveryResult> {
  const { organizationId, scored } = execution
  const score = scoreOf(execution)
  if (score && scored) {
    await engine.executions.setScore({ organizationId, id: scored.executionId, score })
    if (findLowScore(execution)) countLowScore({ executionId: scored.executionId, organizationId })
    return DONE
  }
  // Without payloads if they are large, or if it was deleted meanwhile.
  const original = 'input' in execution ? execution : await engine.executions.get(execution)
  const pending = original?.scores.filter(({ result }) => !result) ?? []
  if (original === null || pending.length === 0) return DONE
  try {
    await Promise.all(pending.map((scorer) => startScorer(engine, original, scorer)))
    return DONE
  } catch (error) {
    if (!(error instanceof TooManyRequests)) throw error
    return { ...DONE, ok: false, error: error.message }
  }
}

/**
 * Records the run of a scorer and enqueues it. Its ID derives from the original and the scorer: it is recorded once.
 * What no repetition changes is the result.
 * @throws TooManyRequests, Unavailable
 */
async function startScorer(engine: ScoreEngine, original: Execution, { agent, min }: RunScore) {
  const { id, organizationId, agentId, versionId, tenantId, tokenId } = original
  const executionId = scoreExecutionId(id, agent)
  try {
    const run = { tenantId, executionId }
    const reference = { store: engine.agents, organizationId, idOrSlug: agent, versionId: undefined, run }
    const resolved = await resolveVersion(reference)
    const refusal = refusalOf(resolved)
    if (refusal) throw refusal
    const { version, selectedBy } = resolved
    const body = await toBody(engine, original, version)
    const excess = findExcess('The input of the scorer', JSON.stringify(body))
    if (excess) throw new ServiceError('PayloadTooLarge', excess.message)
    const request = await buildRunRequest(version, body, { tenantId: tenantId ?? undefined })
    const production = { agentId, versionId, scorer: agent, min }
    const origin = { scored: { executionId: id, production }, tokenId, selectedBy }
    const ids = { executionId, idempotencyId: null, isBound: true }
    const recorded = await record(engine, { ...request, ...origin }, ids, null)
    if (recorded?.isNew) await enqueue(engine, recorded.execution)
  } catch (error) {
    if (error instanceof Unavailable || error instanceof TooManyRequests) throw error
    if (!(error instanceof ServiceError))
      logger.error('scorer not started', { executionId: id, scorer: agent, cause: describeCause(error) })
    const { code, message } = error instanceof ServiceError ? error : unexpectedError(error)
    const none = { executionId: null, versionId: null, score: null, reason: null }
    await engine.executions.setScore({
      organizationId,
      id,
      score: { agent, ...none, error: { code, message } },
    })
  }
}

/** Steps are read only for a scorer that asks for them. */
async function toBody({ agents, steps }: ScoreEngine, original: Execution, { inputSchema }: Version) {
  const { id, agentId, versionId, input, output } = original
  const agent = (await resolveVersionOf(agents, original))?.slug ?? agentId
  const run = { input, output: output ?? {}, steps: [], agent, version: versionId }
  const body = toScorerInput(inputSchema, run)
  if (!('steps' in body)) return body
  return toScorerInput(inputSchema, { ...run, steps: await steps.read({ executionId: id }) })
}
