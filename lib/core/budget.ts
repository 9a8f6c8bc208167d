import { type ExecutionError, type RunOptions, roundDollars, type Usage } from './execution.ts'

/** What a run may spend: input and output tokens, and US dollars. Null for no limit. */
export type Budget = { maxTokens: number | null; maxCostUsd: number | null }

/** What a run has spent. `costUsd` is null if one of its models had no price. */
export type Spending = { tokens: number; costUsd: number | null }

export const NO_SPENDING: Spending = { tokens: 0, costUsd: 0 }

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

/** As stored with an execution: without the limits that are not set. */
export function toOptions(budget: Budget | null): Pick<RunOptions, 'maxTokens' | 'maxCostUsd'> {
  const { maxTokens = null, maxCostUsd = null } = budget ?? {}
  return { ...(maxTokens !== null && { maxTokens }), ...(maxCostUsd !== null && { maxCostUsd }) }
}

export const toSpending = ({ inputTokens, outputTokens, costUsd }: Usage): Spending => ({
  tokens: inputTokens + outputTokens,
  costUsd: costUsd ?? null,
})

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
    maxTokens !== null &&
      spent.tokens >= maxTokens &&
      `${formatNumber(spent.tokens)} of ${formatNumber(maxTokens)} tokens (maxTokens)`,
    maxCostUsd !== null &&
      knownCost(spent) >= maxCostUsd &&
      `${spent.costUsd === null ? 'an unknown part' : formatNumber(spent.costUsd)} of ${formatNumber(maxCostUsd)} US dollars (maxCostUsd)`,
  ].filter((excess) => excess !== false)
  if (excesses.length === 0) return null
  const message = `The run has no budget left for another model response: it spent ${excesses.join(' and ')}.`
  return { code: 'BudgetExceeded', message, spent }
}

/** A budget must hold, so an unknown cost exhausts it. */
const knownCost = ({ costUsd }: Spending): number => costUsd ?? Number.POSITIVE_INFINITY

const formatNumber = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 9 })
