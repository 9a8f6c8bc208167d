import { DEFAULT_MODEL, type Environment } from '../../environment.ts'
import { findPrice } from '../../models/prices/price-table.ts'
import type { AgentDocument } from './document.ts'
import type { DocumentProblem } from './parse-document.ts'

type Problem = { path: string[] } & Pick<DocumentProblem, 'message'>

/**
 * A budget of a document that the service cannot enforce: it sees only the spending of models that it calls itself and whose
 * price it knows. Without a model, the model may be known only where the agent runs.
 */
export async function findBudgetProblem(
  { code, model, execution }: AgentDocument,
  environment: Environment = process.env,
): Promise<Problem | null> {
  const limits = (['maxTokens', 'maxCostUsd'] as const).filter((name) => (execution[name] ?? null) !== null)
  const [limit] = limits
  if (code && limit) {
    const message = 'must be omitted: the service does not see what the code of an agent spends'
    return { path: ['execution', limit], message }
  }
  const name = (typeof model === 'string' ? model : model?.name) ?? environment[DEFAULT_MODEL]
  if (!limits.includes('maxCostUsd') || !name || (await findPrice(name, environment))) return null
  const message = `must be omitted: the model ${name} has no price. Use maxTokens, or set its price in MODEL_PRICES`
  return { path: ['execution', 'maxCostUsd'], message }
}
