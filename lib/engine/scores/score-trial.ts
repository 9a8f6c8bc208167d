import { resolveVersion } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import { type LeasedExecution, roundDollars, usageOfTree } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { findExcess } from '../../core/payload-size.ts'
import type { Recording } from '../../core/recording.ts'
import { AgentArchived, ExecutionNotFound } from '../../core/resource-errors.ts'
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
  const costs: number[] = []
  for (const { agent } of params.execution.replay?.scorers ?? [])
    scores.push(await scoreBoth(params, agent, costs))
  const costUsd = roundDollars(costs.reduce((sum, cost) => sum + cost, 0))
  return { scores, scoring: { costUsd, ms: Math.max(system.now() - startedAt, 0) } }
}

/** Without a score of the original, there is nothing to compare: the other one is not made. */
async function scoreBoth(params: Params, agent: string, costs: number[]): Promise<ScoredPair> {
  const pair: ScoredPair = { agent, original: null, trial: null }
  try {
    const version = await resolveScorer(params, agent)
    const [ofOriginal, ofTrial] = sidesOf(params, version)
    const original = await runScorer(params, version, ofOriginal, costs)
    pair.original = original.score
    if (original.executionId) pair.originalScoreId = original.executionId
    if (original.error) return { ...pair, error: original.error }
    const isSame = isEqualInput(ofOriginal.input, ofTrial.input)
    const trial = isSame ? original : await runScorer(params, version, ofTrial, costs)
    pair.trial = trial.score
    if (trial.executionId) pair.trialScoreId = trial.executionId
    return { ...pair, ...(trial.error && { error: trial.error }) }
  } catch (error) {
    if (params.signal.aborted || error instanceof Unavailable || error instanceof AttemptStopped) throw error
    if (error instanceof ServiceError) return { ...pair, error: { code: error.code, message: error.message } }
    const { organizationId, id: executionId } = params.execution
    logger.error('line not scored', { organizationId, executionId, agent, cause: describeCause(error) })
    const { code, message } = unexpectedError(error)
    return { ...pair, error: { code, message } }
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

/** An execution, and what the scorer receives of it. */
type Side = { executionId: string; input: JsonObject }

/** The original, and the line. */
function sidesOf(params: Params, { inputSchema }: Version): [Side, Side] {
  const { execution, version, output, steps, recording } = params
  const { original } = recording
  const { input } = execution
  const run = { input, expected: original.feedback?.correctedOutput, agent: version.slug }
  const first = { output: original.output ?? {}, steps: recording.steps, version: original.versionId }
  const second = { output, steps, version: version.id }
  return [
    { executionId: original.id, input: toScorerInput(inputSchema, { ...run, ...first }) },
    { executionId: execution.id, input: toScorerInput(inputSchema, { ...run, ...second }) },
  ]
}

/** Whichever version said it. */
const isEqualInput = (a: JsonObject, b: JsonObject): boolean =>
  hashJson({ ...a, version: null }) === hashJson({ ...b, version: null })

/** @throws ServiceError, AttemptStopped, Unavailable */
async function runScorer(
  { engine, execution, attempt, signal, deadline }: Params,
  version: Version,
  { executionId, input }: Side,
  costs: number[],
): Promise<Score> {
  if (deadline?.drain.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
  const { organizationId, batch, replay } = execution
  const excess = findExcess('The input of the scorer', JSON.stringify(input))
  const prepared = excess ? { problem: excess.message } : await prepareInput(version, input)
  if ('problem' in prepared) throw new ServiceError('InputSchemaMismatch', prepared.problem)
  const key = `${execution.id}-score-${version.slug}-${hashJson(input)}`
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
  if (!ended) throw new ExecutionNotFound()
  costs.push(usageOfTree(ended)?.costUsd ?? 0)
  return toScore(version.slug, ended)
}
