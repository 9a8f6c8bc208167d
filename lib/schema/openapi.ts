import type { Json, JsonObject } from '../core/json/json.ts'
import { FORMATS, isJsonSchema } from './field-map.ts'
import { mapSubschemas } from './subschemas.ts'

/** Formats that the validator checks, and those of JSON Schema and OpenAPI that say what a value is for. */
const KNOWN_FORMATS = new Set([
  ...FORMATS,
  ...['url', 'json-pointer-uri-fragment', 'idn-email', 'idn-hostname', 'iri', 'iri-reference'],
  ...['int32', 'int64', 'float', 'double', 'password', 'binary', 'byte'],
])

const isNullable = ({ nullable, type }: JsonObject) =>
  nullable === true && type !== undefined && ![type].flat().includes('null')

/**
 * Gives schemas with `nullable: true` a `type` that includes null, which is what OpenAPI 3.0.3 (Schema Object) means by
 * it: `enum` and references are not changed.
 */
export function withNullableTypes(declared: JsonObject): JsonObject {
  if (!isJsonSchema(declared)) return declared
  return mapSubschemas(declared, (part) =>
    isNullable(part) ? { ...part, type: [part.type as Json, 'null'].flat() } : part,
  )
}

type Schemas = { inputSchema: JsonObject; outputSchema: JsonObject }

/** Sentences about what the schemas of a version say without effect, or in another dialect. */
export const findSchemaWarnings = ({ inputSchema, outputSchema }: Schemas): string[] => [
  ...warningsOf('input', inputSchema),
  ...warningsOf('output', outputSchema),
]

function warningsOf(name: string, declared: JsonObject): string[] {
  if (!isJsonSchema(declared)) return []
  const warnings: string[] = []
  mapSubschemas(declared, (part, path) => {
    const place = [name, ...path].join('.')
    const { format, nullable, enum: choices } = part
    if (typeof format === 'string' && !KNOWN_FORMATS.has(format))
      warnings.push(
        `${place}: the format "${format}" is unknown, so it is not checked. Use a pattern to check it.`,
      )
    if (nullable !== true) return part
    const hint = 'nullable is a keyword of OpenAPI 3.0; in JSON Schema, write'
    if (part.type === undefined)
      warnings.push(`${place}: ${hint} anyOf with { type: "null" }. Without a type, it has no effect.`)
    else warnings.push(`${place}: ${hint} "null" as one of the types.`)
    if (Array.isArray(choices) && !choices.includes(null))
      warnings.push(`${place}: null is no value of the enum, so it is not accepted. Add it to the enum.`)
    return part
  })
  return warnings
}
