export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Maximum nesting of an input or output: deeper values would overflow recursive code. */
export const MAX_JSON_DEPTH = 100

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a parsed JSON value nests at most `limit` levels. */
export function isWithinDepth(value: unknown, limit: number = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (limit === 0) return false
  for (const child of Object.values(value)) if (!isWithinDepth(child, limit - 1)) return false
  return true
}
