import { isJsonObject } from '../../core/json/json.ts'

/** US dollars per million tokens. Without its own rate, a cached token costs as much as any other input token. */
export type Rates = {
  input: number
  output: number
  /** Input tokens read from the provider's prompt cache. */
  cachedInput?: number
  /** Input tokens written to the provider's prompt cache. */
  cacheWrite?: number
  /** US dollars for one search of the web that the provider executes. */
  webSearch?: number
}

const RATE_NAMES = ['input', 'output', 'cachedInput', 'cacheWrite', 'webSearch'] as const
const REQUIRED = ['input', 'output']

/** Why a value is not the price of a model; null if it is. Continues a sentence that starts with the model's name. */
export function findRatesProblem(rates: unknown): string | null {
  if (!isJsonObject(rates))
    return 'must have a price: {"input": 0.5, "output": 1.5}, for example, in US dollars per million tokens.'
  const unknown = Object.keys(rates).find((rate) => !RATE_NAMES.some((known) => known === rate))
  if (unknown) return `has the unknown rate "${unknown}"; allowed: ${RATE_NAMES.join(', ')}.`
  const invalid = RATE_NAMES.find((rate) => {
    const value = rates[rate]
    if (value === undefined) return REQUIRED.includes(rate)
    return typeof value !== 'number' || !Number.isFinite(value) || value < 0
  })
  const unit = invalid === 'webSearch' ? '' : ' per million tokens'
  return invalid ? `must have a rate "${invalid}" of 0 or more US dollars${unit}.` : null
}

/** The price of the exact name, else that of the longest beginning that a `*` follows. */
export function findRates(name: string, prices: Record<string, Rates>): Rates | undefined {
  const matches = Object.keys(prices)
    .filter((key) => key === name || (key.endsWith('*') && name.startsWith(key.slice(0, -1))))
    .sort((a, b) => Number(b === name) - Number(a === name) || b.length - a.length)
  return prices[matches[0] ?? '']
}
