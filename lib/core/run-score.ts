import type { Execution, ExecutionSummary } from './execution.ts'
import { derivedId, timeOfId } from './ids.ts'
import type { JsonObject } from './json/json.ts'
import { isInShare } from './rollout.ts'
import { type ProductionRun, type RunScore, readScore, type Score, type Scorer, toScore } from './score.ts'
import type { ScoredEntry } from './usage.ts'

/** The scorers that score a run: each by its own percentage, and always the same ones. */
export const chooseScorers = (scorers: Scorer[] = [], executionId: string): RunScore[] =>
  scorers
    .filter(({ agent, sample = 0 }) => isInShare(`${executionId}/${agent}`, sample))
    .map(({ agent, min }) => ({ agent, ...(min !== undefined && { min }) }))

/** A scorer runs once for each run. Its run has the time of that in its ID, by which items expire. */
export const scoreExecutionId = (executionId: string, scorer: string): string =>
  derivedId(timeOfId(executionId), `score/${executionId}/${scorer}`)

type MaybeScored = {
  source?: Execution['source'] | null | undefined
  scored?: Execution['scored'] | undefined
}

/** The production run that an execution scores; undefined for any other, also for agents that a scorer calls. */
export const scoredBy = ({ source, scored }: MaybeScored): ProductionRun | undefined =>
  source === 'SCORE' ? scored?.production : undefined

const isBelow = (score: number | null, min: number | undefined): boolean =>
  score !== null && min !== undefined && score < min

export const isLow = ({ min, result }: Pick<RunScore, 'min' | 'result'>): boolean =>
  isBelow(result?.score ?? null, min)

/** The part of a scorer's run that is counted. `output`: null if it has failed. */
export function toScoredEntry(execution: MaybeScored, output: JsonObject | null): ScoredEntry | undefined {
  const run = scoredBy(execution)
  if (!run) return undefined
  const { min, ...key } = run
  const { score } = output ? readScore(output) : { score: null }
  return { ...key, score, isLow: isBelow(score, min) }
}

type Ended = ExecutionSummary & { output?: JsonObject | null }

/** What the final run of a scorer says; null for any other execution. */
export function scoreOf(execution: Ended): Score | null {
  const run = scoredBy(execution)
  return run ? toScore(run.scorer, { output: null, ...execution }) : null
}

/** What destinations are told of the run of a scorer; null unless it says that the score of a production run is low. */
export function findLowScore(execution: Ended) {
  const [run, said] = [scoredBy(execution), scoreOf(execution)]
  if (!run || !said || !isLow({ min: run.min, result: said })) return null
  const { id: scoreExecutionId, tenantId, scored } = execution
  const { score, reason } = said
  return { ...run, tenantId, executionId: scored?.executionId, score, reason, scoreExecutionId }
}
