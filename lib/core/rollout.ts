import { createHash } from 'node:crypto'
import { differenceOfMeans, type ScoreFigures } from './score-statistics.ts'

export const ROLLOUT_KEYS = ['tenant', 'execution'] as const

/** When the service ends a rollout by itself. Rates are fractions. */
export type AbortRules = {
  maxErrorRate?: number | undefined
  maxCostIncrease?: number | undefined
  /** By how much the mean score of a scorer may be lower. */
  maxScoreDrop?: number | undefined
  minRuns: number
}

/** A version that runs a part of an agent's executions beside the current one. */
export type Rollout = {
  versionId: string
  /** From 1 to 100. */
  percent: number
  /** What decides: all runs of a tenant have the same version, or each run is on its own. */
  key: (typeof ROLLOUT_KEYS)[number]
  abort: AbortRules | null
  /** ISO 8601. A new percentage does not change it. */
  startedAt: string
  /** ISO 8601: the minute from which on runs are judged. Those of an earlier rollout of the version are not. */
  judgedFrom: string
  updatedAt: string
  /** A UUID, new with each change: writes are conditional on the one that was read. */
  revision: string
}

/** What a version has done during a rollout. Costs are those of its runs and of the agents that they called. */
export type RolloutFigures = {
  versionId: string
  /** Without those whose errors do not follow from the version. */
  runs: number
  failed: number
  /** Those that were no cache hits and not cancelled, and whose price is known. */
  computed: number
  /** Of these. */
  costUsd: number
  /** Scored runs, by scorer. Absent in figures that earlier releases have stored. */
  scores?: ScorerFigures[]
}

/** `scorer`: its slug. */
export type ScorerFigures = ScoreFigures & { scorer: string }

/** Both versions of a rollout in the same time. */
export type RolloutComparison = { rollout: RolloutFigures; current: RolloutFigures }

/** A rollout that the service has ended. */
export type AbortedRollout = Pick<Rollout, 'versionId' | 'percent' | 'key' | 'startedAt'> & {
  /** That of its event, a UUID. */
  id: string
  /** ISO 8601 */
  at: string
  /** A sentence. */
  reason: string
  figures: RolloutComparison
}

/** What destinations are told of a rollout that the service has ended. */
export type AbortedEvent = AbortedRollout & { organizationId: string; agentId: string; slug: string }

/** Why an execution has its version: it is current, a rollout has selected it, or the request named it. */
export const SELECTED_BY = ['CURRENT', 'ROLLOUT', 'REQUEST'] as const
export type SelectedBy = (typeof SELECTED_BY)[number]

/** Hundredths of a percent. */
const BUCKETS = 10_000

/**
 * Whether a run gets the version of the rollout. A tenant, or an execution, that has it keeps it while the percentage
 * grows. Runs without a tenant are on their own.
 */
export function selects(
  { versionId, percent, key }: Pick<Rollout, 'versionId' | 'percent' | 'key'>,
  run: { tenantId: string | null; executionId: string },
): boolean {
  const name = key === 'tenant' && run.tenantId !== null ? `t/${run.tenantId}` : `e/${run.executionId}`
  return isInShare(`${versionId}/${name}`, percent)
}

/** Whether what has this name belongs to a percentage of all: to a higher one, too. */
export const isInShare = (name: string, percent: number): boolean =>
  createHash('sha256').update(name).digest().readUInt32BE(0) % BUCKETS < percent * (BUCKETS / 100)

/** Why the rules end a rollout, as a sentence; null if they do not. */
export function findBreach(rules: AbortRules, comparison: RolloutComparison): string | null {
  const { runs, failed } = comparison.rollout
  const { maxErrorRate, minRuns } = rules
  if (runs < minRuns) return null
  const errorRate = failed / runs
  if (maxErrorRate !== undefined && errorRate > maxErrorRate)
    return `${failed} of ${runs} runs have failed: ${inPercent(errorRate)}, more than ${inPercent(maxErrorRate)}.`
  return findCostIncrease(rules, comparison) ?? findScoreDrop(rules, comparison)
}

function findCostIncrease(
  { maxCostIncrease, minRuns }: AbortRules,
  { rollout, current }: RolloutComparison,
): string | null {
  const isComparable = rollout.computed >= minRuns && current.computed >= minRuns
  if (maxCostIncrease === undefined || !isComparable) return null
  const [cost, usual] = [rollout.costUsd / rollout.computed, current.costUsd / current.computed]
  if (cost <= usual * (1 + maxCostIncrease)) return null
  const increase = usual > 0 ? `: ${inPercent(cost / usual - 1)} more, which may be` : ', which may be'
  return `A run costs $${inDollars(cost)} instead of $${inDollars(usual)}${increase} at most ${inPercent(maxCostIncrease)} more.`
}

/** The first scorer that certainly gives lower scores: the 95 % interval of the difference is below the rule. */
function findScoreDrop(
  { maxScoreDrop, minRuns }: AbortRules,
  { rollout, current }: RolloutComparison,
): string | null {
  if (maxScoreDrop === undefined) return null
  for (const scores of rollout.scores ?? []) {
    const usual = current.scores?.find(({ scorer }) => scorer === scores.scorer)
    const isComparable = usual && scores.runs >= minRuns && usual.runs >= minRuns
    const difference = isComparable ? differenceOfMeans(scores, usual) : null
    if (difference && difference.to < -maxScoreDrop)
      return `${scores.scorer} gives a mean score of ${inDigits(scores.mean)} instead of ${inDigits(usual?.mean)}: lower by ${inDigits(-difference.to)} to ${inDigits(-difference.from)} (95 %), which may be at most ${maxScoreDrop}.`
  }
  return null
}

const inDigits = (value: number | null | undefined): string => (value ?? 0).toFixed(3)

const inPercent = (fraction: number): string => `${Number((fraction * 100).toPrecision(3))} %`

const inDollars = (amount: number): string => String(Number(amount.toPrecision(3)))
