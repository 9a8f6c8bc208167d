import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { parseJsonPointer } from '../../core/json/pointer.ts'
import type { SchemaProblem } from '../../schema/check-declared-schema.ts'
import { KEYED_KEYWORDS, renameKeys, toWireKeys } from './wire-keys.ts'

/** A tool's schema as providers accept it, and the conversion of inputs that match it to the schema as declared. */
export type WireSchema = {
  schema: JsonObject
  /** False if inputs of both schemas are the same. */
  convertsInputs: boolean
  /** From an input of the declared schema. */
  encode: (input: Json) => Json
  /** From an input of the wire schema. */
  decode: (input: Json) => Json
}

/** Providers require an object without these keywords at the root; such a schema becomes the property `value`. */
const ROOT_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'not', 'if', '$ref', '$dynamicRef', 'enum', 'const']
const WRAPPER = 'value'

/** Members of the root that stay at the root, because references point to them. */
const HOISTED = ['$schema', '$defs', 'definitions']

const SCHEMAS = ['not', 'if', 'then', 'else', 'contains', 'items']
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const SCHEMA_MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']
/** Here providers accept a boolean. */
const OPEN_SCHEMAS = ['additionalProperties', 'additionalItems', 'unevaluatedProperties', 'unevaluatedItems']
const VALUES = ['default', 'const', 'enum', 'examples']

const hasComposedRoot = (schema: JsonObject): boolean => ROOT_KEYWORDS.some((keyword) => keyword in schema)

const wireSchemas = new WeakMap<JsonObject, WireSchema>()

/** The same object for the same schema: an object with properties, no rejected key and no boolean subschema. */
export function toWireSchema(declared: JsonObject): WireSchema {
  const known = wireSchemas.get(declared)
  if (known) return known
  const wireSchema = rewriteRoot(declared)
  wireSchemas.set(declared, wireSchema)
  return wireSchema
}

function rewriteRoot(declared: JsonObject): WireSchema {
  const toWire = toWireKeys(declared)
  const fromWire = new Map([...toWire].map(([key, wireKey]) => [wireKey, key]))
  const isWrapped = hasComposedRoot(declared)
  const rewritten = rewrite(declared, { names: toWire, root: isWrapped ? `#/properties/${WRAPPER}` : '#' })
  if (!isWrapped) {
    return {
      schema: { properties: {}, ...rewritten, type: 'object' },
      convertsInputs: toWire.size > 0,
      encode: (input) => renameKeys(input, toWire),
      decode: (input) => renameKeys(input, fromWire),
    }
  }
  const entries = Object.entries(rewritten)
  const inner = Object.fromEntries(entries.filter(([keyword]) => !HOISTED.includes(keyword)))
  const hoisted = Object.fromEntries(entries.filter(([keyword]) => HOISTED.includes(keyword)))
  return {
    schema: {
      ...hoisted,
      type: 'object',
      properties: { [WRAPPER]: inner },
      required: [WRAPPER],
      additionalProperties: false,
    },
    convertsInputs: true,
    encode: (input) => ({ [WRAPPER]: renameKeys(input, toWire) }),
    decode: (input) => renameKeys(unwrap(input), fromWire),
  }
}

/** Some models leave the wrapper out. */
function unwrap(input: Json): Json {
  const isWrapper = isJsonObject(input) && WRAPPER in input && Object.keys(input).length === 1
  return isWrapper ? (input[WRAPPER] as Json) : input
}

/** `root`: where the root of the declared schema is in the wire schema. */
type Context = { names: ReadonlyMap<string, string>; root: string }

function rewrite(schema: JsonObject, context: Context): JsonObject {
  const { names } = context
  const rename = (key: Json): Json => (typeof key === 'string' ? (names.get(key) ?? key) : key)
  const entries = Object.entries(withoutFalseItems(schema)).flatMap(([keyword, value]): [string, Json][] => {
    if (SCHEMA_MAPS.includes(keyword) && isJsonObject(value))
      return [[keyword, rewriteMap(keyword, value, context)]]
    if (SCHEMA_LISTS.includes(keyword) && Array.isArray(value))
      return [[keyword, value.map((part) => rewriteSubschema(part, context))]]
    if (SCHEMAS.includes(keyword)) return [[keyword, rewriteSubschema(value, context)]]
    if (OPEN_SCHEMAS.includes(keyword))
      return [[keyword, isJsonObject(value) ? rewrite(value, context) : value]]
    if (VALUES.includes(keyword)) return [[keyword, renameKeys(value, names)]]
    if (keyword === 'required' && Array.isArray(value)) return [[keyword, value.map(rename)]]
    if (keyword === 'dependentRequired' && isJsonObject(value)) {
      const lists = Object.entries(value).map(([key, list]) => [
        names.get(key) ?? key,
        Array.isArray(list) ? list.map(rename) : list,
      ])
      return [[keyword, Object.fromEntries(lists)]]
    }
    // The AI SDK's OpenAI package throws unless the type is given.
    if (keyword === 'propertyNames')
      return isJsonObject(value) ? [[keyword, { ...rewrite(value, context), type: 'string' }]] : []
    if (keyword === '$ref' && typeof value === 'string') return [[keyword, rewriteRef(value, context)]]
    return [[keyword, value]]
  })
  return Object.fromEntries(entries)
}

/** `items: false` as a length: llama.cpp does not read `prefixItems` next to `items`. */
function withoutFalseItems(schema: JsonObject): JsonObject {
  const { items, ...others } = schema
  if (items !== false) return schema
  const { prefixItems = [], maxItems } = others
  const length = Array.isArray(prefixItems) ? prefixItems.length : 0
  return { ...others, maxItems: Math.min(length, typeof maxItems === 'number' ? maxItems : length) }
}

function rewriteSubschema(schema: Json, context: Context): Json {
  if (schema === true) return {}
  if (schema === false) return { not: {} }
  return isJsonObject(schema) ? rewrite(schema, context) : schema
}

function rewriteMap(keyword: string, schemas: JsonObject, context: Context): JsonObject {
  const hasKeys = KEYED_KEYWORDS.includes(keyword)
  const entries = Object.entries(schemas).map(([key, schema]): [string, Json] => {
    const wireKey = hasKeys ? context.names.get(key) : undefined
    const rewritten = rewriteSubschema(schema, context)
    if (wireKey === undefined) return [key, rewritten]
    return [wireKey, keyword === 'properties' ? withName(rewritten, key) : rewritten]
  })
  return Object.fromEntries(entries)
}

/** Tells the model what a renamed field is called. */
function withName(schema: Json, key: string): Json {
  if (!isJsonObject(schema)) return schema
  const { description } = schema
  return { ...schema, description: typeof description === 'string' ? `${key}: ${description}` : key }
}

/** References to `$defs` of the root stay as they are, because the wire schema has them at its root. */
function rewriteRef(ref: string, { names, root }: Context): string {
  if (!ref.startsWith('#')) return ref
  const segments = ref.split('/').map((segment, index, all) => {
    const isKey = KEYED_KEYWORDS.includes(all[index - 1] ?? '')
    return (isKey && names.get(toKey(segment))) || segment
  })
  const [first = '#', ...others] = segments
  if (others.length === 0) return first === '#' ? root : ref
  return [HOISTED.includes(others[0] ?? '') ? '#' : root, ...others].join('/')
}

/** A segment of a JSON Pointer in a URI fragment (RFC 6901, section 6). */
function toKey(segment: string): string {
  try {
    return parseJsonPointer(`/${decodeURIComponent(segment)}`)[0] ?? segment
  } catch {
    return segment
  }
}

/** Keywords that only the root can have: in a subschema, references to them would resolve differently. */
const FIXED_KEYWORDS = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef']

/** What prevents a declared schema from being sent to models, when its agent is published. */
export function checkWireSchema(declared: JsonObject): SchemaProblem[] {
  if (!hasComposedRoot(declared) || typeof declared.type !== 'string') return []
  const path = findKeyword(declared, [])
  const message =
    'cannot be sent to models together with allOf, anyOf, oneOf, not, if or $ref at the top level; use $defs and $ref'
  return path ? [{ path, message }] : []
}

function findKeyword(value: Json, path: string[]): string[] | null {
  const entries = Array.isArray(value)
    ? value.map((item, index): [string, Json] => [String(index), item])
    : isJsonObject(value)
      ? Object.entries(value)
      : []
  for (const [name, child] of entries) {
    const here = [...path, name]
    if (isJsonObject(value) && FIXED_KEYWORDS.includes(name) && typeof child === 'string') return here
    const found = findKeyword(child, here)
    if (found) return found
  }
  return null
}
