import type { JsonObject } from '../core/json.ts'

/**
 * A JSON Schema of objects with the type that clients require at its root. 2020-12 is the default dialect of MCP, and
 * clients of 2025 reject its `$schema`.
 */
export function toObjectSchema({ $schema: _, ...schema }: JsonObject): JsonObject & { type: 'object' } {
  return { ...schema, type: 'object' }
}
