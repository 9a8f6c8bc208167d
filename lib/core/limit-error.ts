import type { ExecutionError } from './execution.ts'

const MAX_TEXT_CHARACTERS = 8_000
const MAX_LIST_ITEMS = 100
const MAX_DETAILS_BYTES = 64_000

/** An error that fits into a record: long texts and lists are shortened, and details that are still too large are omitted. */
export function limitError(error: ExecutionError): ExecutionError {
  const limited = limit(error) as ExecutionError
  if (new TextEncoder().encode(JSON.stringify(limited)).length <= MAX_DETAILS_BYTES) return limited
  return { code: limited.code, message: limited.message }
}

function limit(value: unknown): unknown {
  if (typeof value === 'string') return limitText(value)
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_ITEMS).map(limit)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, limit(member)]))
}

function limitText(text: string): string {
  if (text.length <= MAX_TEXT_CHARACTERS) return text
  return `${text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()}… (${text.length} characters)`
}
