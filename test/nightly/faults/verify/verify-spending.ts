import type { Execution } from '../../../../lib/core/execution.ts'
import { MAX_ATTEMPTS } from '../../../../lib/core/limits.ts'
import { rootOf, tokensOf, usageOf } from '../load/model-runs.ts'
import type { Observation } from '../load/run-client.ts'

export type Spending = {
  observations: Observation[]
  /** The stored executions, by ID, also those of agents that were called as tools. */
  stored: Map<string, Execution>
  /** How often each model response was requested, by `marker step`. */
  modelRequests: Map<string, number>
  /** The tokens of all responses of the model, by marker. */
  tokens: Map<string, number>
}

/** Model responses that were requested again. */
export const repeatedResponses = (requests: Iterable<number>) =>
  [...requests].reduce((sum, count) => sum + count - 1, 0)

export const markerOf = ({ input }: Pick<Execution, 'input'>) => String(input.marker)

/**
 * What runs spent beyond their budget, as counted by the model: a run may exceed it by one response for each attempt,
 * of its own or of an agent that it calls.
 */
export function spendingProblems(evidence: Spending): string[] {
  const faults = new Map(evidence.observations.map(({ run }) => [run.marker, run.fault]))
  const budgets = new Map(evidence.observations.map(({ run }) => [run.marker, run.maxTokens]))
  return [...evidence.stored.values()].flatMap((execution) => {
    const marker = markerOf(execution)
    const fault = faults.get(rootOf(marker)) ?? null
    return [
      ...budgetProblems(execution, evidence, budgets.get(marker)),
      ...lossProblems(execution, evidence, { isPersistent: fault !== null }),
    ]
  })
}

function budgetProblems(
  execution: Execution,
  { stored, modelRequests, tokens }: Spending,
  planned: number | null | undefined,
): string[] {
  const marker = markerOf(execution)
  const isPart = (other: string) => other === marker || rootOf(other) === marker
  const maxTokens = execution.options.maxTokens ?? null
  if (planned !== undefined && maxTokens !== planned)
    return [`${marker} has the budget ${maxTokens} instead of ${planned}.`]
  const spent = [...tokens].reduce((sum, [other, count]) => (isPart(other) ? sum + count : sum), 0)
  const attempts = [...stored.values()]
    .filter((other) => isPart(markerOf(other)))
    .reduce((sum, other) => sum + other.attempts, 0)
  const steps = [...modelRequests.keys()].flatMap((name) => {
    const [other = '', step] = name.split(' ')
    return isPart(other) ? [Number(step)] : []
  })
  const response = tokensOf(usageOf(Math.max(0, ...steps)))
  const problems: string[] = []
  if (maxTokens !== null && spent > maxTokens + attempts * response)
    problems.push(`${marker} spent ${spent} tokens of ${maxTokens} in ${attempts} attempts.`)
  if (execution.error?.code === 'BudgetExceeded' && spent < (maxTokens ?? 0))
    problems.push(`${marker} ended over its budget of ${maxTokens}, but had spent ${spent} tokens.`)
  return problems
}

/** Responses that were paid for and not stored. `isPersistent`: no attempt gets the run further. */
function lossProblems(
  execution: Execution,
  { modelRequests, tokens }: Spending,
  { isPersistent }: { isPersistent: boolean },
): string[] {
  const marker = markerOf(execution)
  const requests = [...modelRequests].flatMap(([name, count]) =>
    name.startsWith(`${marker} `) ? [count] : [],
  )
  const { attempts, steps, usage } = execution
  const problems: string[] = []
  const repeated = repeatedResponses(requests)
  if (repeated > Math.max(0, attempts - 1))
    problems.push(`${marker} repeated ${repeated} model responses in ${attempts} attempts.`)
  const lost = requests.reduce((sum, count) => sum + count, 0) - steps
  if (isPersistent && requests.length > 0 && lost > MAX_ATTEMPTS)
    problems.push(`${marker} lost ${lost} paid responses in ${attempts} attempts.`)
  const [recorded, spent] = [tokensOf(usage), tokens.get(marker) ?? 0]
  if (recorded > spent || (lost === 0 && recorded !== spent))
    problems.push(`${marker} has recorded ${recorded} tokens, but its responses had ${spent}.`)
  return problems
}
