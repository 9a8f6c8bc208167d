import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'

/**
 * What every provider supports in strict mode, where the input of a call is certain to match the schema. Others support
 * more, but reject different keywords. https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 * https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations
 */
const KEYWORDS = [
  'type',
  'description',
  'title',
  'enum',
  'properties',
  'required',
  'items',
  'additionalProperties',
]
const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']
const MAX_DEPTH = 5
const MAX_PROPERTIES = 100

/** Whether a wire schema can be used in strict mode: all fields of its objects are declared and required. */
export function isStrictSchema(schema: JsonObject): boolean {
  let properties = 0
  const isStrict = (part: Json | undefined, depth: number): boolean => {
    if (!isJsonObject(part) || depth > MAX_DEPTH) return false
    if (!Object.keys(part).every((keyword) => KEYWORDS.includes(keyword))) return false
    const { type, items, enum: values } = part
    if (!TYPES.includes(String(type))) return false
    if (values !== undefined && !isScalarList(values)) return false
    if (type === 'array') return isStrict(items, depth + 1)
    if (type !== 'object') return true
    const fields = isJsonObject(part.properties) ? part.properties : {}
    const required = Array.isArray(part.required) ? part.required : []
    const names = Object.keys(fields)
    properties += names.length
    return (
      part.additionalProperties === false &&
      properties <= MAX_PROPERTIES &&
      names.every((name) => required.includes(name)) &&
      names.every((name) => isStrict(fields[name], depth + 1))
    )
  }
  return isStrict(schema, 1)
}

const isScalarList = (values: Json): boolean =>
  Array.isArray(values) && values.every((value) => typeof value !== 'object' || value === null)
