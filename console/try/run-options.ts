import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS } from '../../lib/core/limits.ts'
import { formatNumber } from '../components/format.ts'

/** The options of a run as they are typed. Empty: not given. The names are those of the query parameters. */
export type RunOptions = {
  version: string
  tenantId: string
  model: string
  /** Part of the parameter `model`. */
  reasoning: string
  enforceInputSchema: boolean
  useCache: '' | 'true' | 'false'
  useDynamicLearning: boolean
  maxAgentSteps: string
  maxTokens: string
  maxCostUsd: string
}

export const NO_OPTIONS: RunOptions = {
  version: '',
  tenantId: '',
  model: '',
  reasoning: '',
  enforceInputSchema: false,
  useCache: '',
  useDynamicLearning: false,
  maxAgentSteps: '',
  maxTokens: '',
  maxCostUsd: '',
}

export const REASONING_LEVELS = ['none', 'default', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export type Parameters = Record<string, string | number | boolean>

/** The query parameters of a run, without those that are not given. */
export function toParameters(options: RunOptions): Parameters {
  const { version, tenantId, model, reasoning, useCache } = options
  const numbers = ['maxAgentSteps', 'maxTokens', 'maxCostUsd'] as const
  return {
    ...(version !== '' && { version }),
    ...(tenantId !== '' && { tenantId }),
    ...(model.trim() !== '' && { model: `${model.trim()}${reasoning && `:${reasoning}`}` }),
    ...(options.enforceInputSchema && { enforceInputSchema: true }),
    ...(useCache !== '' && { useCache: useCache === 'true' }),
    ...(options.useDynamicLearning && { useDynamicLearning: true }),
    ...Object.fromEntries(
      numbers.flatMap((name) => (options[name].trim() === '' ? [] : [[name, Number(options[name])]])),
    ),
  }
}

/**
 * What is wrong with options, by the name of the parameter. The service checks them too.
 * @param maxSteps what the version allows
 */
export function findOptionProblems(
  options: RunOptions,
  maxSteps: number = MAX_AGENT_STEPS.max,
): Partial<Record<keyof RunOptions, string>> {
  const steps = outside(options.maxAgentSteps, /^\d{1,10}$/, { ...MAX_AGENT_STEPS, max: maxSteps })
  const tokens = outside(options.maxTokens, /^\d{1,10}$/, MAX_TOKENS)
  const cost = outside(options.maxCostUsd, /^\d{1,9}(\.\d{1,9})?$/, MAX_COST_USD)
  return {
    ...(steps && { maxAgentSteps: `Enter an integer ${steps}.` }),
    ...(tokens && { maxTokens: `Enter an integer ${tokens}.` }),
    ...(cost && { maxCostUsd: `Enter a number ${cost}, without an exponent.` }),
    ...(options.tenantId.length > 128 && { tenantId: 'Enter at most 128 characters.' }),
    ...(options.reasoning !== '' &&
      options.model.trim() === '' && { model: 'Enter the model that is to reason, as provider/model.' }),
  }
}

function outside(text: string, form: RegExp, { min, max }: { min: number; max: number }): string | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const isInside = form.test(trimmed) && Number(trimmed) >= min && Number(trimmed) <= max
  return isInside ? null : `from ${formatNumber(min)} to ${formatNumber(max)}`
}
