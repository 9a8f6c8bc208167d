import type { Violation } from './errors.ts'
import { MAX_ATTEMPTS } from './limits.ts'

/** Why an execution ended in ERROR: a code for programs, a message for people, and optional details. */
export type ExecutionError = { code: string; message: string; [detail: string]: unknown }

/**
 * Violations of the input schema by the input that a code agent failed on, which the error has as `errors`, or as
 * `inputErrors` beside those of the output. Empty if the input was valid, and for errors of another origin.
 */
export function inputErrorsOf({ code, errors, inputErrors }: ExecutionError): Violation[] {
  const violations = code === 'AgentFailed' ? errors : inputErrors
  return Array.isArray(violations) ? violations : []
}

export const CANCELLED: ExecutionError = {
  code: 'Cancelled',
  message: 'The execution was cancelled on request.',
}

export const DEADLINE_EXCEEDED: ExecutionError = {
  code: 'DeadlineExceeded',
  message: 'The execution did not finish before its deadline.',
}

/** The error of a run whose attempts without progress are used up. */
export function attemptsExhausted({ lastError }: { lastError: ExecutionError | null }): ExecutionError {
  return (
    lastError ?? {
      code: 'AttemptsExhausted',
      message: `${MAX_ATTEMPTS} attempts failed without progress: the worker died each time, or the database was not available to it.`,
    }
  )
}

/** The error of an attempt that computed a step in vain. `reason`: the name of the database's error. */
export const stepNotStored = ({ number }: { number: number }, reason: string): ExecutionError => ({
  code: 'StepNotStored',
  message: `Step ${number} was computed, but the database did not store it (${reason}).`,
  step: number,
})

/** The error of a run that may lose no further step; null if it may. Progress in between changes nothing. */
export function findExcessiveLoss(
  lost: { number: number }[],
  lastError: ExecutionError | null,
): ExecutionError | null {
  if (lost.length < MAX_ATTEMPTS) return null
  const message = `${lost.length} attempts each computed a step that was lost. ${lastError?.message ?? ''}`
  return { code: 'StepNotStored', message: message.trim(), step: lost.at(-1)?.number }
}

/** Characters of a text, and items of a list. The second pair is for errors that the first one leaves too large. */
const LIMITS = [
  { characters: 8_000, items: 100 },
  { characters: 500, items: 10 },
]
type Limits = (typeof LIMITS)[number]
const MAX_DETAILS_BYTES = 64_000

/** An error that fits into a record: long texts and lists are shortened; details that remain too large are left out. */
export function limitError(error: ExecutionError): ExecutionError {
  for (const limits of LIMITS) {
    const limited = limit(error, limits) as ExecutionError
    if (new TextEncoder().encode(JSON.stringify(limited)).length <= MAX_DETAILS_BYTES) return limited
  }
  return { code: error.code, message: limitText(error.message, LIMITS[0] as Limits) }
}

function limit(value: unknown, limits: Limits): unknown {
  if (typeof value === 'string') return limitText(value, limits)
  if (Array.isArray(value)) return value.slice(0, limits.items).map((item) => limit(item, limits))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, limit(member, limits)]))
}

function limitText(text: string, { characters }: Limits): string {
  if (text.length <= characters) return text
  return `${text.slice(0, characters).toWellFormed()}… (${text.length} characters)`
}
