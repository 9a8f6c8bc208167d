import type { ExecutionError } from './execution.ts'

/** Characters of a text, and items of a list. The second pair is for errors that the first one leaves too large. */
const LIMITS = [
  { characters: 8_000, items: 100 },
  { characters: 500, items: 10 },
]
type Limits = (typeof LIMITS)[number]
const MAX_DETAILS_BYTES = 64_000

/** An error that fits into a record: long texts and lists are shortened, and details that are still too large are omitted. */
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
