import type { Execution } from '../../../../lib/core/execution.ts'
import { MAX_ATTEMPTS } from '../../../../lib/core/limits.ts'
import { rootOf, tokensOf } from '../load/model-runs.ts'
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

const markerOf = ({ input }: Pick<Execution, 'input'>) => String(input.marker)

/** Responses that runs have paid for more than once, and usage that their records do not have. */
export function spendingProblems(evidence: Spending): string[] {
  const faults = new Map(evidence.observations.map(({ run }) => [run.marker, run.fault]))
  return [...evidence.stored.values()].flatMap((execution) => {
    const fault = faults.get(rootOf(markerOf(execution))) ?? null
    return lossProblems(execution, evidence, { isPersistent: fault !== null })
  })
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
