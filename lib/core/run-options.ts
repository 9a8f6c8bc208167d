import type { Budget } from './budget.ts'

/** Options of the call, stored so that a resumed run uses the same ones. */
export type RunOptions = {
  maxAgentSteps: number
  model: string | null
  useDynamicLearning: boolean
  /** The budget of the run. Absent without a limit. */
  maxTokens?: number
  maxCostUsd?: number
}

/** What the options of a run in a batch are: those of the request. */
export type BatchOptions = {
  enforceInputSchema?: boolean | undefined
  maxAgentSteps?: number | undefined
  maxTokens?: number | undefined
  maxCostUsd?: number | undefined
  model?: string | undefined
  useCache?: boolean | undefined
  useDynamicLearning?: boolean | undefined
}

/** As stored with an execution: without the limits that are not set. */
export function toOptions(budget: Budget | null): Pick<RunOptions, 'maxTokens' | 'maxCostUsd'> {
  const { maxTokens = null, maxCostUsd = null } = budget ?? {}
  return { ...(maxTokens !== null && { maxTokens }), ...(maxCostUsd !== null && { maxCostUsd }) }
}

/**
 * Whether the step limit forced the last response of the run: with a higher limit, which has the same cache key, the
 * result might be another one. Steps of code agents have a limit of their own, which ends the run.
 */
export const hasUsedAllSteps = (
  { steps, model }: { steps: number; model: string | null },
  { maxAgentSteps }: RunOptions,
) => model !== null && steps >= maxAgentSteps
