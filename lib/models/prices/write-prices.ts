import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { MatchLogic, ModelInfo, ModelPrice } from '@pydantic/genai-prices'
import { PROVIDERS, traitsOf } from '../providers/providers.ts'
import type { Price, PriceTable } from './price-table.ts'
import type { Rates } from './rates.ts'

const PACKAGE = '@pydantic/genai-prices'
const FILE = new URL('prices.json', import.meta.url)

/**
 * The price table of the installed package: models that generate text, with the prices that apply on a date (ISO 8601).
 * The package is for development only and loaded here, so that nothing else loads it.
 */
export async function toPriceTable(date: string): Promise<PriceTable> {
  const { findProvider } = await import('@pydantic/genai-prices')
  const { version } = createRequire(import.meta.url)(
    '../../../node_modules/@pydantic/genai-prices/package.json',
  )
  const providers = PROVIDERS.toSorted().flatMap((name) => {
    const providerId = traitsOf(name).priceSource
    const models = (providerId && findProvider({ providerId })?.models) || []
    return providerId ? [[name, models.flatMap((model) => toEntry(model, date))]] : []
  })
  return { source: `${PACKAGE} ${version}`, date, providers: Object.fromEntries(providers) }
}

function toEntry({ match, prices }: ModelInfo, date: string): PriceTable['providers'][string] {
  const price = toPrice(currentPrices(prices, date))
  return price ? [{ models: toPattern(match), ...price }] : []
}

/** The last of the dated prices that apply; one without a date applies before all others. */
function currentPrices(prices: ModelInfo['prices'], date: string): ModelPrice {
  if (!Array.isArray(prices)) return prices
  const started = prices.filter(({ constraint }) => {
    if (constraint && constraint.type !== 'start_date') return false
    return !constraint || constraint.start_date <= date
  })
  return started.at(-1)?.prices ?? {}
}

const RATES: Record<Exclude<keyof Rates, 'webSearch'>, string> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
}

/** Null for a model whose price is not for text: audio, images, or input alone. */
function toPrice(prices: ModelPrice): Price | null {
  if (!prices.input_mtok || !prices.output_mtok) return null
  if (Object.keys(prices).some((key) => /audio|image|hours/.test(key))) return null
  const starts = Object.values(prices).flatMap((price) =>
    typeof price === 'object' ? price.tiers.map(({ start }) => start) : [],
  )
  const [tokens] = starts
  if (new Set(starts).size > 1) throw new Error(`${PACKAGE} has a price with several tiers.`)
  const base = toRates(prices, (price) => (typeof price === 'object' ? price.base : price))
  if (tokens === undefined) return base
  const above = toRates(prices, (price) =>
    typeof price === 'object' ? (price.tiers[0]?.price ?? price.base) : price,
  )
  return { ...base, above: { tokens, ...above } }
}

type Amount = Exclude<ModelPrice[string], undefined>

const toRates = (prices: ModelPrice, amountOf: (price: Amount) => number): Rates =>
  Object.fromEntries(
    Object.entries(RATES).flatMap(([name, key]) => {
      const price = prices[key]
      return price === undefined ? [] : [[name, amountOf(price)]]
    }),
  ) as Rates

/** A case-insensitive regular expression with the meaning of the package's rule. */
function toPattern(match: MatchLogic): string {
  if ('or' in match) return match.or.map(toPattern).join('|')
  if ('equals' in match) return `^${escapePattern(match.equals)}$`
  if ('starts_with' in match) return `^${toBeginning(match.starts_with)}`
  if ('ends_with' in match) return `${escapePattern(match.ends_with)}$`
  if ('contains' in match) return toBeginning(match.contains)
  if ('regex' in match) return match.regex
  throw new Error(`${PACKAGE} has an unknown rule: ${JSON.stringify(match)}`)
}

/** After a version, another number is part of a newer one, unless it is a date: `claude-sonnet-5-5`. */
const NO_NEWER_VERSION = '(?![-.]?\\d{1,2}(?!\\d))'

const toBeginning = (text: string): string =>
  /\d$/.test(text) ? escapePattern(text) + NO_NEWER_VERSION : escapePattern(text)

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** One line per model, so that a new version of the package shows which prices changed. */
function format({ providers, ...header }: PriceTable): string {
  const lists = Object.entries(providers).map(([name, entries]) => {
    const lines = entries.map((entry) => `      ${JSON.stringify(entry)}`)
    return `    ${JSON.stringify(name)}: [\n${lines.join(',\n')}\n    ]`
  })
  const head = JSON.stringify(header, null, 2).slice(0, -2)
  return `${head},\n  "providers": {\n${lists.join(',\n')}\n  }\n}\n`
}

/** `npm run prices` */
if (import.meta.main) {
  const table = await toPriceTable(new Date().toISOString().slice(0, 10))
  writeFileSync(FILE, format(table))
  console.log(`Wrote lib/models/prices/prices.json from ${table.source}.`)
}
