import { roundDollars, type Usage } from '../../core/execution.ts'
import { isJsonObject, tryParseJson } from '../../core/json/json.ts'
import { type Model, ModelConfigurationError } from '../../core/model.ts'
import { type Environment, MODEL_PRICES } from '../../environment.ts'
import { type ModelName, parseModelName, toModelId } from '../model-name.ts'

/** US dollars per million tokens. Without its own rate, a cached token costs as much as any other input token. */
export type Rates = {
  input: number
  output: number
  /** Input tokens read from the provider's prompt cache. */
  cachedInput?: number
  /** Input tokens written to the provider's prompt cache. */
  cacheWrite?: number
}

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

/** Prices of the setting `MODEL_PRICES`, by `{provider}/{model}`; a `*` at the end matches any rest. */
type OwnPrices = Record<string, Rates>

/**
 * The price of a model, from the setting `MODEL_PRICES` or from the price table, which is loaded on first use; null if
 * it has none. The reasoning level is irrelevant.
 * @throws ModelConfigurationError if the name or the setting is invalid
 */
export async function findPrice(name: string, environment: Environment): Promise<Price | null> {
  const { provider, model } = parseModelName(name)
  const own = findOwnPrice(`${provider}/${model}`, parseModelPrices(environment[MODEL_PRICES] ?? ''))
  if (own) return own
  const { default: table } = await import('./prices.json', { with: { type: 'json' } })
  const entries = (table as PriceTable).providers[provider] ?? []
  return entries.find(({ models }) => new RegExp(models, 'i').test(toModelId(model))) ?? null
}

/** The exact name, else the longest matching prefix. */
function findOwnPrice(name: string, prices: OwnPrices): Rates | undefined {
  const matches = Object.keys(prices)
    .filter((key) => key === name || (key.endsWith('*') && name.startsWith(key.slice(0, -1))))
    .sort((a, b) => Number(b === name) - Number(a === name) || b.length - a.length)
  return prices[matches[0] ?? '']
}

const FORMAT =
  'a JSON object such as {"openai-compatible/my-model": {"input": 0.5, "output": 1.5}}, in US dollars per million tokens, optionally with "cachedInput" and "cacheWrite"'
const RATE_NAMES = ['input', 'output', 'cachedInput', 'cacheWrite']

/**
 * Parses the value of `MODEL_PRICES`; an empty one has no prices.
 * @throws ModelConfigurationError
 */
export function parseModelPrices(text: string): OwnPrices {
  if (text === '') return {}
  const prices = tryParseJson(text)
  if (!isJsonObject(prices)) return fail(`it must be ${FORMAT}.`)
  for (const [name, rates] of Object.entries(prices)) {
    const { provider, model } = parseName(name)
    if (`${provider}/${model}` !== name) fail(`"${name}" must not contain a reasoning level.`)
    if (!isJsonObject(rates)) return fail(`"${name}" must have a price: ${FORMAT}.`)
    const unknown = Object.keys(rates).find((rate) => !RATE_NAMES.includes(rate))
    if (unknown) fail(`"${name}" has the unknown rate "${unknown}"; allowed: ${RATE_NAMES.join(', ')}.`)
    for (const rate of RATE_NAMES) {
      const value = rates[rate]
      const isOptional = rate.startsWith('cache')
      const isValid = typeof value === 'number' && Number.isFinite(value) && value >= 0
      if (!isValid && !(isOptional && value === undefined))
        fail(`"${name}" must have a rate "${rate}" of 0 or more US dollars per million tokens.`)
    }
  }
  return prices as OwnPrices
}

function parseName(name: string): ModelName {
  try {
    return parseModelName(name)
  } catch (error) {
    return fail((error as Error).message)
  }
}

function fail(problem: string): never {
  throw new ModelConfigurationError(`Invalid ${MODEL_PRICES}: ${problem}`)
}

/** The model, adding the cost to the usage of its responses if it has a price. */
export function withCost(model: Model, price: Price | null): Model {
  if (!price) return model
  return {
    ...model,
    async respond(request) {
      const response = await model.respond(request)
      const { usage } = response
      return { ...response, usage: { ...usage, costUsd: costOf(price, usage) } }
    },
  }
}

/** The price of one model response in US dollars. `inputTokens` includes those read from and written to the cache. */
export function costOf({ above, ...base }: Price, usage: Omit<Usage, 'costUsd'>): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
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
  return roundDollars(dollars)
}
