import { ExactNumber } from './exact-number.ts'

/** A JSON value. An input as sent may also contain `ExactNumber`s. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Maximum nesting of an input or output: deeper values would overflow recursive code. */
export const MAX_JSON_DEPTH = 100

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  )
}

/** Whether a parsed JSON value nests at most `limit` levels. */
export function isWithinDepth(value: unknown, limit: number = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return true
  if (limit === 0) return false
  for (const child of Object.values(value)) if (!isWithinDepth(child, limit - 1)) return false
  return true
}

type MapNumber = (number: ExactNumber, path: readonly string[]) => Json

export function containsExactNumber(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (value instanceof ExactNumber) return true
  if (Array.isArray(value)) return value.some(containsExactNumber)
  for (const name in value) if (containsExactNumber(value[name] ?? null)) return true
  return false
}

/** Replaces each exact number in a value. Returns the value itself if it contains none. */
export function mapExactNumbers(value: Json, map: MapNumber): Json {
  if (!containsExactNumber(value)) return value
  const path: string[] = []
  const mapValue = (part: Json): Json => {
    if (typeof part !== 'object' || part === null) return part
    if (part instanceof ExactNumber) return map(part, [...path])
    return Array.isArray(part) ? mapItems(part) : mapFields(part)
  }
  const mapChild = (child: Json, name: string | number): Json => {
    if (typeof child !== 'object' || child === null) return child
    path.push(String(name))
    const mapped = mapValue(child)
    path.pop()
    return mapped
  }
  const mapItems = (items: Json[]): Json[] => {
    const mapped = items.map(mapChild)
    return mapped.some((item, index) => item !== items[index]) ? mapped : items
  }
  const mapFields = (fields: JsonObject): JsonObject => {
    const mapped = Object.entries(fields).map(([name, child]) => [name, mapChild(child, name)] as const)
    return mapped.some(([name, child]) => child !== fields[name]) ? Object.fromEntries(mapped) : fields
  }
  return mapValue(value)
}

/** The value of a JSON text; undefined if it is none. For texts in which rounded numbers do no harm. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether text that `JSON.stringify` wrote contains half of a surrogate pair, which DynamoDB refuses in items. */
export const hasUnpairedSurrogate = (json: string): boolean =>
  json.includes('\\ud') && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(json)
