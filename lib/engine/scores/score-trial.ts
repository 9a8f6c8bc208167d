import { resolveVersion } from '../../agents/resolve-version.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import type { LeasedExecution } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { roundDollars } from '../../core/model-usage.ts'
import { findExcess } from '../../core/payload-size.ts'
import type { Recording } from '../../core/recording.ts'
import { noScore, readScore, type Score } from '../../core/score.ts'
import type { ScoredPair } from '../../core/score-pairs.ts'
import type { RecordedStep } from '../../core/step.ts'
import type { Judgement } from '../../core/trial.ts'
import { describeCause, logger } from '../../logger.ts'
import { failed } from '../../tools/tool.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { AttemptStopped, unexpectedError } from '../checkpoints/stop-reason.ts'
import { prepareInput } from '../code-agent/child-runs.ts'
import { endExecution } from '../end-execution.ts'
import type { Engine } from '../engine.ts'
import { childId } from '../model-agent/call-key.ts'
import type { RunAttempt } from '../model-agent/run-child.ts'
import { callAgent } from '../model-agent/sub-agents.ts'
import { CallWaits } from '../waiting/call-waits.ts'
import { type Scorable, toScorerInput } from './scorer-input.ts'

/** How long a run of a scorer may take, whichever workers run it. */
const MAX_SCORING_MS = 120_000

const WAITS = { code: 'ScorerWaits', message: 'The scorer waits for something, which ends its run.' }

type Params = {
  engine: Engine
  /** The line of the trial, its version, and how its run has ended. */
  execution: LeasedExecution
  version: { id: string; slug: string }
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
  const { execution, version, output, steps, recording } = params
  const { organizationId, tenantId, id: executionId, input } = execution
  const { original } = recording
  try {
    const scorer = await resolveVersion({
      ...{ store: params.engine.agents, organizationId, idOrSlug: agent, versionId: undefined },
      run: { tenantId, executionId },
    })
    const run = { input, expected: original.feedback?.correctedOutput, agent: version.slug }
    const toInput = (side: Pick<Scorable, 'output' | 'steps' | 'version'>) =>
      toScorerInput(scorer.version.inputSchema, { ...run, ...side })
    const sides = [
      toInput({ output: original.output ?? {}, steps: recording.steps, version: original.versionId }),
      toInput({ output, steps, version: version.id }),
    ] as const
    const first = await runScorer(params, scorer, { executionId: original.id, input: sides[0] }, costs)
    pair.original = first.score
    if (first.executionId) pair.originalScoreId = first.executionId
    if (first.error) return { ...pair, error: first.error }
    // Whichever version said it.
    const [a, b] = sides.map((side) => hashJson({ ...side, version: null }))
    const second = a === b ? first : await runScorer(params, scorer, { executionId, input: sides[1] }, costs)
    pair.trial = second.score
    if (second.executionId) pair.trialScoreId = second.executionId
    return { ...pair, ...(second.error && { error: second.error }) }
  } catch (error) {
    if (params.signal.aborted || error instanceof Unavailable || error instanceof AttemptStopped) throw error
    const known = error instanceof ServiceError ? error : unexpectedError(error)
    if (!(error instanceof ServiceError))
      logger.error('line not scored', { organizationId, executionId, agent, cause: describeCause(error) })
    return { ...pair, error: { code: known.code, message: known.message } }
  }
}

/** @param scored the execution, and what the scorer receives of it @throws AttemptStopped, Unavailable */
async function runScorer(
  { engine, execution, attempt, signal, deadline }: Params,
  resolved: Awaited<ReturnType<typeof resolveVersion>>,
  scored: { executionId: string; input: JsonObject },
  costs: number[],
): Promise<Omit<Score, 'versionId' | 'agent'>> {
  if (deadline?.drain.aborted) throw new AttemptStopped({ kind: 'WorkerShuttingDown' })
  const { organizationId, batch, replay } = execution
  const { executionId, input } = scored
  const { slug } = resolved.version
  const idempotencyKey = `${execution.id}-score-${slug}-${hashJson(input)}`
  const maxCostUsd = replay?.maxTrialCostUsd ?? 0
  const excess = findExcess('The input of the scorer', JSON.stringify(input))
  const called = await callAgent(engine, execution, {
    ...{ ...resolved, slug, idempotencyKey, attempt, signal, started: 0, maxChildren: 1 },
    endsAt: Math.min(execution.deadlineAt, deadline?.stopsAt ?? Number.POSITIVE_INFINITY),
    prepare: async (of) => (excess ? { problem: excess.message } : prepareInput(of, input)),
    share: () => ({ maxTokens: null, maxCostUsd: maxCostUsd || null }),
    scored: { executionId, ...(batch && { trial: { id: batch.id, maxCostUsd } }) },
    deadlineMs: MAX_SCORING_MS,
  }).catch(async (error: unknown) => {
    if (!(error instanceof CallWaits)) throw error
    const id = childId(execution, idempotencyKey)
    await endExecution(engine, { organizationId, id, error: WAITS })
    return { result: { ...failed(WAITS.message), executionId: id }, error: WAITS }
  })
  const { result } = called
  costs.push(result.usage?.costUsd ?? 0)
  const ran = { executionId: result.executionId ?? null }
  if (result.ok) return { ...ran, ...readScore(result.value as JsonObject) }
  return { ...ran, ...noScore(called.error ?? { code: 'AgentNotRun', message: result.error }) }
}
