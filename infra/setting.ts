import { parseCorsOrigins } from '../lib/http/cors.ts'
import { parseModelName } from '../lib/models/model-name.ts'
import { parseModelPrices } from '../lib/models/prices/price-table.ts'

/** A CDK context value that operators can set. Each is a row of the table in `docs/settings.md`. */
export type Setting<T> = {
  /** Applies when the context value is missing or empty. */
  default: T
  /** The allowed values in words, for the table and for errors. */
  allowed: string
  description: string
  /** Undefined for a value that is not allowed. Values of `cdk.json` are converted to text first. */
  parse: (text: string) => T | undefined
}

export const parseBoolean = (value: string): boolean | undefined => ({ true: true, false: false })[value]

export function booleanSetting(options: { default: boolean; description: string }): Setting<boolean> {
  return { ...options, allowed: 'true or false', parse: parseBoolean }
}

type IntegerOptions<T> = { default: T; min?: number; max: number; description: string }

export function integerSetting<T extends number | null>(options: IntegerOptions<T>): Setting<number | T> {
  const { min = 1, max, description } = options
  const parse = (value: string) => {
    const number = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? number : undefined
  }
  const format = (number: number) => number.toLocaleString('en-US')
  const allowed = `an integer from ${format(min)} to ${format(max)}`
  return { default: options.default, allowed, description, parse }
}

type StringOptions = { allowed: string; description: string; pattern: RegExp }

export function stringSetting({ pattern, ...rest }: StringOptions & { default: string }): Setting<string> {
  return { ...rest, parse: (value) => (pattern.test(value) ? value : undefined) }
}

export function optionalSetting({ pattern, ...rest }: StringOptions): Setting<string | null> {
  return { default: null, ...rest, parse: (value) => (pattern.test(value) ? value : undefined) }
}

export function isCorsOrigins(value: string): boolean {
  try {
    return parseCorsOrigins(value).length > 0
  } catch {
    return false
  }
}

export function isModelName(value: string): boolean {
  try {
    return parseModelName(value) !== null
  } catch {
    return false
  }
}

export function isModelPrices(value: string): boolean {
  try {
    return parseModelPrices(value) !== null
  } catch {
    return false
  }
}
