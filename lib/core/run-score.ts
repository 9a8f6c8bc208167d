import type { Execution, ExecutionSummary } from './execution.ts'
import { derivedId, timeOfId } from './ids.ts'
import type { JsonObject } from './json/json.ts'
import { isInShare } from './rollout.ts'
import { type ProductionRun, type RunScore, readScore, type Score, type Scorer } from './score.ts'
import type { ScoredEntry } from './usage.ts'

/** Scores below the minimum of their scorer, and what destinations are told of them. */
export type LowScore = Omit<ProductionRun, 'min'> &
  Pick<Execution, 'tenantId'> &
  Pick<Score, 'score' | 'reason'> & { executionId: string; min: number; scoreExecutionId: string }

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

export const isLow = ({ min, result }: RunScore): boolean => isBelow(result?.score ?? null, min)

/** What is counted of the run of a scorer. `output`: null if it has failed. */
export function toScoredEntry(execution: MaybeScored, output: JsonObject | null): ScoredEntry | undefined {
  const run = scoredBy(execution)
  if (!run) return undefined
  const { min, ...key } = run
  const { score } = output ? readScore(output) : { score: null }
  return { ...key, score, isLow: isBelow(score, min) }
}

/** What the final run of a scorer says. */
export function toRunScore(
  execution: ExecutionSummary & Partial<Pick<Execution, 'output'>>,
): RunScore | null {
  const run = scoredBy(execution)
  if (!run) return null
  const { id, versionId, error, output } = execution
  const failed = { score: null, reason: null, error: error && { code: error.code, message: error.message } }
  const said = output ? readScore(output) : failed
  return { agent: run.scorer, min: run.min, result: { executionId: id, versionId, ...said } }
}

/** Null unless the execution is the run of a scorer that says that the score of a production run is low. */
export function findLowScore(execution: Parameters<typeof toRunScore>[0]): LowScore | null {
  const [run, said] = [scoredBy(execution), toRunScore(execution)]
  if (!run || !said?.result || !isLow(said)) return null
  const { id, tenantId, scored } = execution
  const { score, reason } = said.result
  const { min = 0, ...key } = run
  return {
    ...key,
    tenantId,
    executionId: scored?.executionId ?? '',
    score,
    reason,
    min,
    scoreExecutionId: id,
  }
}
