import { isJsonObject, tryParseJson } from '../../core/json/json.ts'
import { type Model, ModelConfigurationError, ModelError } from '../../core/model.ts'
import { roundDollars, type Usage } from '../../core/model-usage.ts'
import { type Environment, readSetting } from '../../environment.ts'
import { type ModelName, parseModelName, prefixOf, toModelId } from '../model-name.ts'
import type { Provider } from '../providers/provider-traits.ts'
import { findRates, findRatesProblem, type Rates } from './rates.ts'

/** `above`: the rates of all tokens of a response whose input has more than `tokens` tokens. */
export type Price = Rates & { above?: Rates & { tokens: number } }

/** `prices.json`, which `npm run prices` writes. The first entry whose pattern matches a model has its price. */
export type PriceTable = {
  /** Name and version of the package that the prices are from. */
  source: string
  /** ISO 8601 */
  date: string
  /** By provider. `models` is a case-insensitive regular expression. */
  providers: Record<string, (Price & { models: string })[]>
}

/**
 * https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool#usage-and-pricing
 * https://platform.openai.com/docs/pricing#built-in-tools
 */
const SEARCH_PRICES: Partial<Record<Provider, number>> = { anthropic: 0.01, openai: 0.01 }

/** Prices of the setting `MODEL_PRICES`, by `{provider}/{model}`; a `*` at the end matches any rest. */
type OwnPrices = Record<string, Rates>

/**
 * The price of a model, from the setting `MODEL_PRICES`, its endpoint or the price table, which is loaded on first use;
 * null if it has none. The reasoning level is irrelevant.
 * @throws ModelConfigurationError if the name or the setting is invalid
 */
export async function findPrice(name: string, environment: Environment): Promise<Price | null> {
  const parsed = parseModelName(name, environment)
  const price = await findTokenPrice(parsed, environment)
  const webSearch = SEARCH_PRICES[parsed.provider]
  return price && { ...(webSearch !== undefined && { webSearch }), ...price }
}

async function findTokenPrice(parsed: ModelName, environment: Environment): Promise<Price | null> {
  const { provider, endpoint, model } = parsed
  const own = findRates(
    `${prefixOf(parsed)}/${model}`,
    parseModelPrices(readSetting('modelPrices', environment) ?? '', environment),
  )
  if (own) return own
  // An endpoint has its own prices, whatever the provider of its format charges.
  if (endpoint) return findRates(model, endpoint.prices) ?? null
  const { default: table } = await import('./prices.json', { with: { type: 'json' } })
  const entries = (table as PriceTable).providers[provider] ?? []
  return entries.find(({ models }) => new RegExp(models, 'i').test(toModelId(model))) ?? null
}

/** Which of these models have no price. @throws ModelConfigurationError */
export async function findUnpriced(names: string[], environment: Environment): Promise<string[]> {
  const prices = await Promise.all(names.map((name) => findPrice(name, environment)))
  return names.filter((_, index) => !prices[index])
}

const FORMAT =
  'a JSON object such as {"openai-compatible/my-model": {"input": 0.5, "output": 1.5}}, in US dollars per million tokens, optionally with "cachedInput" and "cacheWrite"'

/**
 * Parses the value of `MODEL_PRICES`; an empty one has no prices.
 * @param environment has the names of endpoints
 * @throws ModelConfigurationError
 */
export function parseModelPrices(text: string, environment: Environment = process.env): OwnPrices {
  if (text === '') return {}
  const prices = tryParseJson(text)
  if (!isJsonObject(prices)) return fail(`it must be ${FORMAT}.`)
  for (const [name, rates] of Object.entries(prices)) {
    const parsed = parseName(name, environment)
    if (`${prefixOf(parsed)}/${parsed.model}` !== name) fail(`"${name}" must not contain a reasoning level.`)
    const problem = findRatesProblem(rates)
    if (problem) fail(`"${name}" ${problem}`)
  }
  return prices as OwnPrices
}

function parseName(name: string, environment: Environment): ModelName {
  try {
    return parseModelName(name, environment)
  } catch (error) {
    return fail((error as Error).message)
  }
}

function fail(problem: string): never {
  throw new ModelConfigurationError(`Invalid MODEL_PRICES: ${problem}`)
}

/** The model, adding the cost to the usage of its responses if it has a price. */
export function withCost(model: Model, price: Price | null): Model {
  if (!price) return model
  return {
    ...model,
    costOf: (usage) => costOf(price, usage),
    async respond(request) {
      try {
        const response = await model.respond(request)
        return { ...response, usage: withPrice(price, response.usage) }
      } catch (error) {
        if (error instanceof ModelError && error.usage) error.usage = withPrice(price, error.usage)
        throw error
      }
    },
  }
}

const withPrice = (price: Price, usage: Usage): Usage => ({ ...usage, costUsd: costOf(price, usage) })

/** The price of one model response in US dollars. `inputTokens` includes those read from and written to the cache. */
export function costOf({ above, ...base }: Price, usage: Omit<Usage, 'costUsd'>): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0, webSearches = 0 } = usage
  const {
    input,
    output,
    cachedInput = input,
    cacheWrite = input,
  } = above && inputTokens > above.tokens ? above : base
  const plainTokens = Math.max(inputTokens - cachedInputTokens - cacheWriteTokens, 0)
  const dollars =
    (plainTokens * input +
      cachedInputTokens * cachedInput +
      cacheWriteTokens * cacheWrite +
      outputTokens * output) /
    1_000_000
  return roundDollars(dollars + webSearches * (base.webSearch ?? 0))
}
