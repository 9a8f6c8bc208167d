import type { ExecutionError } from './execution-errors.ts'
import { isUnused, roundDollars, type Usage } from './model-usage.ts'

/** What a run may spend: input and output tokens, and US dollars. Null for no limit. */
export type Budget = { maxTokens: number | null; maxCostUsd: number | null }

/** What a run has spent. `costUsd` is null if one of its models had no price. */
export type Spending = { tokens: number; costUsd: number | null }

const NO_SPENDING: Spending = { tokens: 0, costUsd: 0 }

/** The limits of a version's settings, of a call or of an execution's options. */
type Limits = { maxTokens?: number | null | undefined; maxCostUsd?: number | null | undefined }

/** For each limit, the smallest of those given; null if there is no limit at all. */
export function toBudget(...limits: Limits[]): Budget | null {
  const maxTokens = smallest(limits.map((limit) => limit.maxTokens))
  const maxCostUsd = smallest(limits.map((limit) => limit.maxCostUsd))
  return maxTokens === null && maxCostUsd === null ? null : { maxTokens, maxCostUsd }
}

function smallest(values: (number | null | undefined)[]): number | null {
  const given = values.filter((value) => value !== null && value !== undefined)
  return given.length > 0 ? Math.min(...given) : null
}

/** Nothing, whatever it would cost, if nothing was used. */
export function toSpending(usage: Usage | null): Spending {
  if (!usage || isUnused(usage)) return NO_SPENDING
  const { inputTokens, outputTokens, costUsd = null } = usage
  return { tokens: inputTokens + outputTokens, costUsd }
}

export const addSpending = (a: Spending, b: Spending): Spending => ({
  tokens: a.tokens + b.tokens,
  costUsd: a.costUsd === null || b.costUsd === null ? null : roundDollars(a.costUsd + b.costUsd),
})

/**
 * The budget of each of several agents that run at the same time: an equal part of what is left. They may run in
 * different processes and after crashes, so they do not share what one of them leaves over.
 */
export function shareBudget({ maxTokens, maxCostUsd }: Budget, spent: Spending, agents: number): Budget {
  const share = (left: number) => Math.max(left, 0) / agents
  return {
    maxTokens: maxTokens === null ? null : Math.floor(share(maxTokens - spent.tokens)),
    maxCostUsd: maxCostUsd === null ? null : roundDollars(share(maxCostUsd - knownCost(spent))),
  }
}

/** The error of a run that has nothing left for another model response; null if it has. */
export function findExcess({ maxTokens, maxCostUsd }: Budget, spent: Spending): ExecutionError | null {
  const excesses = [
    ...(maxTokens !== null && spent.tokens >= maxTokens ? [describeTokens(spent, maxTokens)] : []),
    ...(maxCostUsd !== null && knownCost(spent) >= maxCostUsd ? [describeCost(spent, maxCostUsd)] : []),
  ]
  if (excesses.length === 0) return null
  const message = `The run has no budget left for another model response: it spent ${excesses.join(' and ')}.`
  return { code: 'BudgetExceeded', message, spent }
}

/** Output tokens that a request must be able to get: fewer are no result, and OpenAI rejects a lower limit. */
const MIN_OUTPUT_TOKENS = 16

type NextRequest = {
  /** Estimated. */
  inputTokens: number
  /** The price of its model; absent if it has none. */
  costOf?: ((usage: Usage) => number) | undefined
}

/**
 * How many output tokens a request may get, so that the run does not exceed its budget; the error of the run if what is
 * left is not enough for its input and a minimal output.
 */
export function allowOutput(budget: Budget, spent: Spending, next: NextRequest): number | ExecutionError {
  const excess = findExcess(budget, spent)
  if (excess) return excess
  const { maxTokens, maxCostUsd } = budget
  const [tokens, dollars] = [
    maxTokens === null ? null : maxTokens - spent.tokens - next.inputTokens,
    maxCostUsd === null ? null : outputFor(maxCostUsd - knownCost(spent), next),
  ]
  const allowed = Math.min(tokens ?? Number.POSITIVE_INFINITY, dollars ?? Number.POSITIVE_INFINITY)
  if (allowed >= MIN_OUTPUT_TOKENS) return allowed
  const lacking =
    maxTokens !== null && allowed === tokens
      ? describeTokens(spent, maxTokens)
      : describeCost(spent, maxCostUsd ?? 0)
  const request = `about ${formatNumber(next.inputTokens)} input tokens`
  const message = `The run has not enough budget left for its next model request of ${request}: it spent ${lacking}.`
  return { code: 'BudgetExceeded', message, spent }
}

/** The output tokens that dollars pay for after the input. */
function outputFor(dollars: number, { inputTokens, costOf }: NextRequest): number {
  if (!costOf) return 0
  const input = costOf({ inputTokens, outputTokens: 0 })
  const perMillion = costOf({ inputTokens, outputTokens: 1_000_000 }) - input
  if (dollars < input) return 0
  if (perMillion === 0) return Number.POSITIVE_INFINITY
  return Math.floor(roundDollars(((dollars - input) / perMillion) * 1_000_000))
}

const describeTokens = ({ tokens }: Spending, max: number): string =>
  `${formatNumber(tokens)} of ${formatNumber(max)} tokens (maxTokens)`

const describeCost = ({ costUsd }: Spending, max: number): string =>
  `${costUsd === null ? 'an unknown part' : formatNumber(costUsd)} of ${formatNumber(max)} US dollars (maxCostUsd)`

/** A budget must hold, so an unknown cost exhausts it. */
const knownCost = ({ costUsd }: Spending): number => costUsd ?? Number.POSITIVE_INFINITY

const formatNumber = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 9 })
