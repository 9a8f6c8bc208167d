import { resolveVersion } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import { type LeasedExecution, roundDollars, usageOfTree } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { findExcess } from '../../core/payload-size.ts'
import type { Recording } from '../../core/recording.ts'
import { AgentArchived } from '../../core/resource-errors.ts'
import { type Score, toScore } from '../../core/score.ts'
import type { ScoredPair } from '../../core/score-pairs.ts'
import type { RecordedStep } from '../../core/step.ts'
import type { Judgement } from '../../core/trial.ts'
import { describeCause, logger } from '../../logger.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { AttemptStopped, unexpectedError } from '../checkpoints/stop-reason.ts'
import { prepareInput } from '../code-agent/child-runs.ts'
import { endExecution } from '../end-execution.ts'
import { type Engine, traceparentFrom } from '../engine.ts'
import { childId } from '../model-agent/call-key.ts'
import { type RunAttempt, runChild } from '../model-agent/run-child.ts'
import { CallWaits } from '../waiting/call-waits.ts'
import { toScorerInput } from './scorer-input.ts'

/** How long a run of a scorer may take, whichever workers run it. */
const MAX_SCORING_MS = 120_000

const WAITS = { code: 'ScorerWaits', message: 'The scorer waits for something, which ends its run.' }

type Params = {
  engine: Engine
  /** The line of the trial, its version, and how its run has ended. */
  execution: LeasedExecution
  version: Version
  output: JsonObject
  steps: RecordedStep[]
  recording: Recording
  attempt: RunAttempt
  /** Aborts when the worker has to stop. */
  signal: AbortSignal
  deadline: WorkerDeadline | undefined
}

/**
 * Scores the output of a line and that of its original, one after the other, so that a limit of the trial is exceeded
 * by one response at most. Each score is a run that is a child of the line: another worker finds it again. A scorer
 * that fails leaves no score.
 * @throws AttemptStopped, Unavailable
 */
export async function scoreTrial(params: Params): Promise<Pick<Judgement, 'scores' | 'scoring'>> {
  const { system } = params.engine
  const startedAt = system.now()
  const scores: ScoredPair[] = []
  let costUsd = 0
  const add = (spent: number) => {
    costUsd = roundDollars(costUsd + spent)
  }
  for (const { agent } of params.execution.replay?.scorers ?? [])
    scores.push(await scoreBoth(params, agent, add))
  return { scores, scoring: { costUsd, ms: Math.max(system.now() - startedAt, 0) } }
}

/** Without a score of the original, there is nothing to compare: the other one is not made. */
async function scoreBoth(
  params: Params,
  agent: string,
  addCost: (costUsd: number) => void,
): Promise<ScoredPair> {
  const none = { agent, original: null, trial: null }
  try {
    const version = await resolveScorer(params, agent)
    const [ofOriginal, ofTrial] = toInputs(params, version)
    const original = await runScorer(params, version, ofOriginal, addCost)
    const isSame = hashJson({ ...ofOriginal, version: null }) === hashJson({ ...ofTrial, version: null })
    const isLast = isSame || original.score === null
    const trial = isLast ? original : await runScorer(params, version, ofTrial, addCost)
    const error = original.error ?? trial.error
    return {
      ...{ agent, original: original.score, trial: trial.score },
      ...(original.executionId && { originalScoreId: original.executionId }),
      ...(trial.executionId && original.score !== null && { trialScoreId: trial.executionId }),
      ...(error && { error }),
    }
  } catch (error) {
    if (params.signal.aborted || error instanceof Unavailable || error instanceof AttemptStopped) throw error
    if (error instanceof ServiceError) return { ...none, error: { code: error.code, message: error.message } }
    const { organizationId, id: executionId } = params.execution
    logger.error('line not scored', { organizationId, executionId, agent, cause: describeCause(error) })
    const { code, message } = unexpectedError(error)
    return { ...none, error: { code, message } }
  }
}

/** @throws AgentNotFound, VersionNotFound, AgentArchived, Unavailable */
async function resolveScorer({ engine, execution }: Params, idOrSlug: string): Promise<Version> {
  const { organizationId, tenantId, id: executionId } = execution
  const run = { tenantId, executionId }
  const reference = { store: engine.agents, organizationId, idOrSlug }
  const { version, isArchived } = await resolveVersion({ ...reference, versionId: undefined, run })
  if (isArchived) throw new AgentArchived()
  return version
}

/** What the scorer receives of the original and of the line. */
function toInputs({ execution, version, output, steps, recording }: Params, scorer: Version) {
  const { original } = recording
  const run = {
    input: execution.input,
    expected: original.feedback?.correctedOutput,
    agent: version.slug,
  }
  const sides = [
    { ...run, output: original.output ?? {}, steps: recording.steps, version: original.versionId },
    { ...run, output, steps, version: version.id },
  ] as const
  return sides.map((side) => toScorerInput(scorer.inputSchema, side)) as [JsonObject, JsonObject]
}

/** @throws AttemptStopped, Unavailable */
async function runScorer(
  { engine, execution, attempt, signal, deadline }: Params,
  version: Version,
  input: JsonObject,
  addCost: (costUsd: number) => void,
): Promise<Score> {
  if (deadline?.drain.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
  const { organizationId, id: executionId, batch, replay } = execution
  const { slug: agent, id: versionId } = version
  const excess = findExcess('The input of the scorer', JSON.stringify(input))
  const prepared = excess ? { problem: excess.message } : await prepareInput(version, input)
  if ('problem' in prepared) {
    const error = { code: 'InputSchemaMismatch', message: prepared.problem }
    return { agent, executionId: null, versionId, score: null, reason: null, error }
  }
  const key = `${executionId}-score-${agent}-${hashJson(input)}`
  const id = childId(execution, key)
  const maxCostUsd = replay?.maxTrialCostUsd ?? 0
  const child = {
    ...{ id, version, input: prepared.input, signal, selectedBy: 'CURRENT' as const },
    callers: [...execution.callers, execution.agentId],
    share: { maxTokens: null, maxCostUsd: maxCostUsd || null },
    scored: { executionId, ...(batch && { trial: { id: batch.id, maxCostUsd } }) },
    deadlineMs: MAX_SCORING_MS,
    traceparent: traceparentFrom(engine, execution, key),
    endsAt: Math.min(execution.deadlineAt, deadline?.stopsAt ?? Number.POSITIVE_INFINITY),
  }
  const ended = await runChild(engine, execution, attempt, child).catch(async (error: unknown) => {
    if (!(error instanceof CallWaits)) throw error
    const stopped = await endExecution(engine, { organizationId, id, error: WAITS })
    return stopped ?? (await engine.executions.get({ organizationId, id }))
  })
  if (!ended) return { agent, executionId: null, versionId, score: null, reason: null, error: DELETED }
  addCost(usageOfTree(ended)?.costUsd ?? 0)
  return toScore(agent, ended)
}

const DELETED = { code: 'ExecutionNotFound', message: 'The run of the scorer was deleted.' }
