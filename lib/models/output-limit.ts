import { isJsonObject, type JsonObject } from '../core/json/json.ts'
import { ModelError, type ModelRequest } from '../core/model.ts'
import { type Environment, readInteger } from '../environment.ts'
import type { ModelName } from './model-name.ts'
import { getOutputLimit } from './providers/model-traits.ts'
import { traitsOf } from './providers/providers.ts'

/** Output tokens of the longest response, by model, where traits do not have it. The first matching row applies. */
const MAX_OUTPUT_TOKENS: [models: RegExp, tokens: number][] = [
  [/^(gpt-5(\.\d+)?-chat|gpt-4o|chatgpt-)/, 16_384],
  [/^gpt-[5-9]/, 128_000],
  [/^gpt-4\.1/, 32_768],
  [/^o1-mini/, 65_536],
  [/^o\d/, 100_000],
  [/amazon\.nova-2/, 64_000],
  [/llama-?3/, 2_048],
]

/** Within that of every other model. */
const DEFAULT_MAX_OUTPUT_TOKENS = 4_096

/** Of a response that also has the reasoning of a thinking budget. */
const MIN_ANSWER_TOKENS = 1_024

type Output = { maxOutputTokens: number | undefined; options: JsonObject }

/**
 * The output limit and the provider's options of a request that may get so many output tokens. Providers reject a limit
 * that is higher than the model's own one; a model without any other limit gets its own one, which is at most that of
 * a model that is not known. The SDK adds a thinking budget to the limit: what is too small for it is not for thinking.
 * @param allowed undefined for a run without a budget
 */
export function limitOutput(
  name: ModelName,
  { maxOutputTokens, options }: Output,
  allowed: number | undefined,
): Output {
  if (allowed === undefined) return { maxOutputTokens, options }
  const known = getOutputLimit(name) ?? MAX_OUTPUT_TOKENS.find(([models]) => models.test(name.model))?.[1]
  const max = maxOutputTokens ?? known ?? DEFAULT_MAX_OUTPUT_TOKENS
  const thinking = Object.entries(options).find(([, option]) => budgetOf(option) > 0)
  if (!thinking) {
    const isAbove = maxOutputTokens === undefined && known !== undefined && allowed >= known
    return { maxOutputTokens: isAbove ? undefined : Math.min(max, allowed), options }
  }
  const [key, option] = thinking
  const answer = Math.min(max, allowed - budgetOf(option))
  if (answer >= Math.min(max, MIN_ANSWER_TOKENS)) return { maxOutputTokens: answer, options }
  const { [key]: _, ...rest } = options
  return { maxOutputTokens: Math.min(max, allowed), options: rest }
}

const budgetOf = (option: unknown): number =>
  isJsonObject(option) && typeof option.budgetTokens === 'number' ? option.budgetTokens : 0

/** The output limit of models whose document and reasoning level set none. Undefined: the provider's own limit. */
export function readOutputLimit(
  { provider, endpoint }: ModelName,
  environment: Environment,
): number | undefined {
  if (endpoint) return endpoint.traits.maxOutputTokens
  const { outputLimit } = traitsOf(provider).variables
  return outputLimit && readInteger(outputLimit.name, outputLimit.default, environment)
}

/**
 * Twice the limit after a truncated response, if the model can return more. An unknown limit of the provider is that
 * response's number of tokens.
 * @throws ModelError if the model cannot
 */
export function outputLimitOf({ truncatedAfter }: ModelRequest, name: ModelName, limit: number | undefined) {
  if (truncatedAfter === undefined) return limit
  const max = getOutputLimit(name)
  if (max === undefined) return 2 * (limit ?? truncatedAfter) || undefined
  if (limit !== undefined && limit < max && truncatedAfter < max) return Math.min(2 * limit, max)
  throw new ModelError(`${name.model} returns at most ${max} tokens.`, { isTransient: false })
}
