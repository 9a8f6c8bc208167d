import { dereference, type Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { toJsonSchema } from '../field-map.ts'
import { jsonTypeOf } from '../message-text.ts'
import {
  getNonNullAlternative,
  getPureRefTarget,
  getRefTarget,
  isComposed,
  resolveSchema,
} from '../subschemas.ts'
import {
  type Annotations,
  breakDirectCycles,
  intersection,
  literalType,
  NEVER,
  type Property,
  type Type,
  type TypeDeclaration,
  takeName,
  toTypeName,
  UNKNOWN,
  union,
} from './type.ts'

type Options = {
  /** Of the type for the whole schema; the types of referenced schemas start with it. */
  name: string
  /** Names of the same file, to which those of the new declarations are added. */
  taken?: Set<string>
  /** The type of a valid input as an agent receives it: adaptation has set missing fields to their default. */
  withDefaults?: boolean
}

/** What the keywords around a part of a schema leave of the types; null for all. */
type Types = readonly string[] | null

const JSON_TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object']
const RESTRICTIONS = (
  'const enum properties required additionalProperties patternProperties unevaluatedProperties ' +
  'items prefixItems'
).split(' ')

/**
 * Converts a declared schema (field map or JSON Schema) to types, the one of the whole schema first. They accept every
 * value that the schema accepts. Keywords that types cannot express (bounds, patterns, `not`, `if`) are ignored.
 */
export function toTypes(
  declared: JsonObject,
  { name, taken = new Set(), withDefaults = false }: Options,
): TypeDeclaration[] {
  // The validator's `dereference` writes to the schema.
  const schema = structuredClone(toJsonSchema(declared))
  const lookup = dereference(schema as Schema)
  const declarations: TypeDeclaration[] = []
  /** Names by schema. Where defaults are set, the same schema has another type. */
  const known = { withDefaults: new Map<unknown, string>(), asSent: new Map<unknown, string>() }
  declare(schema, name, withDefaults)
  return breakDirectCycles(declarations)

  /** Registers the name before it reads the schema, so that recursive schemas terminate. */
  function declare(part: JsonObject, wanted: string, hasDefaults: boolean): string {
    const names = hasDefaults ? known.withDefaults : known.asSent
    const declared = names.get(part)
    if (declared !== undefined) return declared
    const free = takeName(wanted, taken)
    names.set(part, free)
    const declaration: TypeDeclaration = { name: free, type: UNKNOWN, ...annotationsOf(part) }
    declarations.push(declaration)
    declaration.type = read(part, hasDefaults)
    return free
  }

  function read(part: Json | undefined, hasDefaults: boolean, typesAround: Types = null): Type {
    if (part === false) return NEVER
    if (!isJsonObject(part)) return UNKNOWN
    const types = narrow(typesAround, part.type)
    const composed = readComposed(part, hasDefaults, types)
    const isRepeated = !isRestricted(part) && composed.some(hasOwnType)
    return intersection([isRepeated ? UNKNOWN : readOwn(part, hasDefaults, types), ...composed])
  }

  /** The types of `$ref`, `allOf`, `anyOf`, `oneOf`. Adaptation sets defaults only in the only non-null alternative. */
  function readComposed(part: JsonObject, hasDefaults: boolean, types: Types): Type[] {
    const target = getRefTarget(part, lookup)
    const isPureRef = target !== undefined && getPureRefTarget(part, lookup) === target
    const nonNull = getNonNullAlternative(part)
    const readAll = (parts: Json | undefined) =>
      (Array.isArray(parts) ? parts : []).map((each) => read(each, hasDefaults && each === nonNull, types))
    const alternatives = [part.anyOf, part.oneOf].filter(Array.isArray).map(readAll).map(union)
    const reference = refer(target, String(part.$ref), hasDefaults && isPureRef)
    return [reference, ...readAll(part.allOf), ...alternatives]
  }

  function refer(target: Schema | boolean | undefined, ref: string, hasDefaults: boolean): Type {
    if (target === false) return NEVER
    if (!isJsonObject(target)) return UNKNOWN
    const lastName = decodeURIComponent(ref).split(/[/#]/).at(-1) ?? ''
    return { kind: 'reference', name: declare(target, name + toTypeName(lastName), hasDefaults) }
  }

  /** The type without what is composed. */
  function readOwn(part: JsonObject, hasDefaults: boolean, types: Types): Type {
    if (part.const !== undefined) return literalType(part.const)
    if (Array.isArray(part.enum)) {
      const matches = (value: Json) => types === null || typesOf(value).some((type) => types.includes(type))
      return union(part.enum.filter(matches).map(literalType))
    }
    if (part.type === undefined && !isRestricted(part)) return UNKNOWN
    return union((types ?? JSON_TYPES).map((type) => readAs(type, part, hasDefaults)))
  }

  function readAs(type: string, part: JsonObject, hasDefaults: boolean): Type {
    if (type === 'object') return readObject(part, hasDefaults)
    if (type === 'array') return readArray(part, hasDefaults)
    return { kind: type as 'string' | 'number' | 'integer' | 'boolean' | 'null' }
  }

  function readObject(part: JsonObject, hasDefaults: boolean): Type {
    const declared = isJsonObject(part.properties) ? part.properties : {}
    const required = new Set(Array.isArray(part.required) ? part.required.map(String) : [])
    const names = [...new Set([...Object.keys(declared), ...required])]
    const properties = names.map((name): Property => {
      const schema = Object.hasOwn(declared, name) ? declared[name] : undefined
      const { defaultValue } = resolveSchema(schema, lookup)
      return {
        name,
        type: read(schema, hasDefaults),
        isRequired: required.has(name) || (hasDefaults && defaultValue !== undefined),
        ...annotationsOf(schema, defaultValue),
      }
    })
    return { kind: 'object', properties, rest: readRest(part, hasDefaults) }
  }

  /** The type of fields that are not in `properties`; null if there are none. */
  function readRest(part: JsonObject, hasDefaults: boolean): Type | null {
    const { additionalProperties, unevaluatedProperties, patternProperties } = part
    const isClosed = unevaluatedProperties === false && !isComposed(part)
    const others = additionalProperties ?? !isClosed
    const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
    const rest = union([read(others, hasDefaults), ...patterns.map((pattern) => read(pattern, false))])
    return rest.kind === 'never' ? null : rest
  }

  function readArray(part: JsonObject, hasDefaults: boolean): Type {
    const { items, prefixItems, minItems, maxItems } = part
    if (!Array.isArray(prefixItems)) return { kind: 'array', items: read(items, hasDefaults) }
    const length = prefixItems.length
    const isFull = items === false || (typeof maxItems === 'number' && maxItems <= length)
    return {
      kind: 'tuple',
      items: prefixItems.map((item) => read(item, hasDefaults)),
      minItems: typeof minItems === 'number' ? Math.min(minItems, length) : 0,
      rest: isFull ? null : read(items, hasDefaults),
    }
  }
}

/** What the keyword `type` leaves of the types; integers are numbers. */
function narrow(types: Types, keyword: Json | undefined): Types {
  if (keyword === undefined) return types
  const own = [keyword].flat().map(String)
  if (types === null) return own
  const includes = (list: readonly string[], type: string) =>
    list.includes(type) || (type === 'integer' && list.includes('number'))
  const common = own.filter((type) => includes(types, type))
  return [...new Set([...common, ...types.filter((type) => includes(own, type))])]
}

const typesOf = (value: Json): string[] =>
  Number.isInteger(value) ? ['number', 'integer'] : [jsonTypeOf(value)]

const isRestricted = (part: JsonObject): boolean =>
  RESTRICTIONS.some((keyword) => Object.hasOwn(part, keyword))

/** Whether the type includes what is known from around it. A declaration may also be used elsewhere. */
function hasOwnType(type: Type): boolean {
  if (type.kind === 'union') return type.members.every(hasOwnType)
  if (type.kind === 'intersection') return type.members.some(hasOwnType)
  return type.kind !== 'unknown' && type.kind !== 'reference'
}

function annotationsOf(schema: Json | undefined, defaultValue?: Json): Annotations {
  const { description, title, deprecated } = isJsonObject(schema) ? schema : ({} as JsonObject)
  const text = description ?? title
  return {
    description: typeof text === 'string' ? text : null,
    ...(defaultValue !== undefined && { default: defaultValue }),
    isDeprecated: deprecated === true,
  }
}
