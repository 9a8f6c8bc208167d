import { inspect } from 'node:util'
import { MAX_STEP_TIMEOUT_SECONDS, STEP_BACKOFF_SECONDS, STEP_RETRIES } from '../../../core/limits.ts'
import { shorten } from './errors.ts'

/** What an agent says about the attempts at a step. Times are in seconds. */
export type StepOptions = {
  retries: number
  backoff: number
  /** The limit of each attempt; null without one. */
  timeoutSeconds: number | null
  /** Whether another attempt follows one that threw this. */
  retryIf: (error: unknown) => unknown
}

/** Options that are computed, such as those of an environment variable, may be undefined. */
const DEFAULTS: StepOptions = {
  retries: STEP_RETRIES.default,
  backoff: STEP_BACKOFF_SECONDS.default,
  timeoutSeconds: null,
  retryIf: () => true,
}

/** @throws TypeError, RangeError that names the option, its value and its range */
export function toStepOptions(name: string, given: unknown): StepOptions {
  const step = `of the step "${shorten(String(name))}"`
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`The options ${step} must be an object, not ${show(given)}.`)
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(DEFAULTS, key))
  if (unknown !== undefined)
    throw new TypeError(
      `The options ${step} have the unknown member "${shorten(unknown)}"; allowed are ${Object.keys(DEFAULTS).join(', ')}.`,
    )
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const options: StepOptions = { ...DEFAULTS, ...Object.fromEntries(set) }
  const { retries, backoff, timeoutSeconds, retryIf } = options
  const check = (isValid: boolean, option: keyof StepOptions, range: string) => {
    if (!isValid) throw new RangeError(`${option} ${step} is ${show(options[option])}; it must be ${range}.`)
  }
  const { min, max } = STEP_RETRIES
  check(
    Number.isInteger(retries) && isWithin(retries, min, max),
    'retries',
    `an integer from ${min} to ${max}`,
  )
  const longest = STEP_BACKOFF_SECONDS.max
  check(
    isWithin(backoff, STEP_BACKOFF_SECONDS.min, longest),
    'backoff',
    `a number of seconds from 0 to ${longest}`,
  )
  const isTimeout =
    timeoutSeconds === null || (timeoutSeconds > 0 && isWithin(timeoutSeconds, 0, MAX_STEP_TIMEOUT_SECONDS))
  check(isTimeout, 'timeoutSeconds', `a number of seconds above 0 and at most ${MAX_STEP_TIMEOUT_SECONDS}`)
  check(typeof retryIf === 'function', 'retryIf', 'a function')
  return options
}

const isWithin = (value: unknown, min: number, max: number): boolean =>
  typeof value === 'number' && value >= min && value <= max

const show = (value: unknown): string => shorten(inspect(value, { depth: 0 }))
