import { dereference, type Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { toJsonSchema } from '../field-map.ts'
import {
  getNonNullAlternative,
  getPureRefTarget,
  getRefTarget,
  isComposed,
  type Lookup,
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

/** The position of a part in the schema. `types`: what the keywords around it leave, null for all. */
type Position = { types: readonly string[] | null; hasDefaults: boolean }

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
  const reader = new TypeReader(dereference(schema as Schema), name, taken)
  reader.declare(schema, name, withDefaults)
  return breakDirectCycles(reader.declarations)
}

class TypeReader {
  readonly declarations: TypeDeclaration[] = []
  /** Names by schema. Where defaults are set, the same schema has another type. */
  private readonly names = { withDefaults: new Map<unknown, string>(), asSent: new Map<unknown, string>() }
  private readonly lookup: Lookup
  private readonly prefix: string
  private readonly taken: Set<string>

  constructor(lookup: Lookup, prefix: string, taken: Set<string>) {
    this.lookup = lookup
    this.prefix = prefix
    this.taken = taken
  }

  /** Registers the name before it reads the schema, so that recursive schemas terminate. */
  declare(schema: JsonObject, name: string, hasDefaults: boolean): string {
    const names = hasDefaults ? this.names.withDefaults : this.names.asSent
    const known = names.get(schema)
    if (known !== undefined) return known
    const free = takeName(name, this.taken)
    names.set(schema, free)
    const declaration: TypeDeclaration = { name: free, type: UNKNOWN, ...annotationsOf(schema) }
    this.declarations.push(declaration)
    declaration.type = this.read(schema, { types: null, hasDefaults })
    return free
  }

  private read(part: Json | undefined, position: Position): Type {
    if (part === false) return NEVER
    if (!isJsonObject(part)) return UNKNOWN
    const types = narrow(position.types, part.type)
    const composed = this.readComposed(part, { ...position, types })
    const isRepeated = !isRestricted(part) && composed.some(hasOwnType)
    return intersection([isRepeated ? UNKNOWN : this.readOwn(part, { ...position, types }), ...composed])
  }

  /** The types of `$ref`, `allOf`, `anyOf`, `oneOf`. Adaptation sets defaults only in the only non-null alternative. */
  private readComposed(part: JsonObject, { types, hasDefaults }: Position): Type[] {
    const target = getRefTarget(part, this.lookup)
    const isPureRef = target !== undefined && getPureRefTarget(part, this.lookup) === target
    const nonNull = getNonNullAlternative(part)
    const readAll = (parts: Json | undefined) =>
      (Array.isArray(parts) ? parts : []).map((each) =>
        this.read(each, { types, hasDefaults: hasDefaults && each === nonNull }),
      )
    const alternatives = [part.anyOf, part.oneOf].filter(Array.isArray).map(readAll).map(union)
    const reference = this.refer(target, String(part.$ref), hasDefaults && isPureRef)
    return [reference, ...readAll(part.allOf), ...alternatives]
  }

  private refer(target: Schema | boolean | undefined, ref: string, hasDefaults: boolean): Type {
    if (target === false) return NEVER
    if (!isJsonObject(target)) return UNKNOWN
    const lastName = decodeURIComponent(ref).split(/[/#]/).at(-1) ?? ''
    const name = this.declare(target, this.prefix + toTypeName(lastName), hasDefaults)
    return { kind: 'reference', name }
  }

  /** The type without what is composed. */
  private readOwn(part: JsonObject, { types, hasDefaults }: Position): Type {
    if (part.const !== undefined) return literalType(part.const)
    if (Array.isArray(part.enum)) {
      const matches = (value: Json) => types === null || typesOf(value).some((type) => types.includes(type))
      return union(part.enum.filter(matches).map(literalType))
    }
    if (part.type === undefined && !isRestricted(part)) return UNKNOWN
    return union((types ?? JSON_TYPES).map((type) => this.readAs(type, part, hasDefaults)))
  }

  private readAs(type: string, part: JsonObject, hasDefaults: boolean): Type {
    if (type === 'object') return this.readObject(part, hasDefaults)
    if (type === 'array') return this.readArray(part, hasDefaults)
    return { kind: type as 'string' | 'number' | 'integer' | 'boolean' | 'null' }
  }

  private readObject(part: JsonObject, hasDefaults: boolean): Type {
    const declared = isJsonObject(part.properties) ? part.properties : {}
    const required = new Set(Array.isArray(part.required) ? part.required.map(String) : [])
    const names = [...new Set([...Object.keys(declared), ...required])]
    const properties = names.map((name): Property => {
      const schema = Object.hasOwn(declared, name) ? declared[name] : undefined
      const { defaultValue } = resolveSchema(schema, this.lookup)
      return {
        name,
        type: this.read(schema, { types: null, hasDefaults }),
        isRequired: required.has(name) || (hasDefaults && defaultValue !== undefined),
        ...annotationsOf(schema, defaultValue),
      }
    })
    return { kind: 'object', properties, rest: this.readRest(part, hasDefaults) }
  }

  /** The type of fields that are not in `properties`; null if there are none. */
  private readRest(part: JsonObject, hasDefaults: boolean): Type | null {
    const { additionalProperties, unevaluatedProperties, patternProperties } = part
    const isClosed = unevaluatedProperties === false && !isComposed(part)
    const others = additionalProperties ?? !isClosed
    const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
    const rest = union([
      this.read(others, { types: null, hasDefaults }),
      ...patterns.map((pattern) => this.read(pattern, { types: null, hasDefaults: false })),
    ])
    return rest.kind === 'never' ? null : rest
  }

  private readArray(part: JsonObject, hasDefaults: boolean): Type {
    const { items, prefixItems, minItems, maxItems } = part
    const read = (item: Json | undefined) => this.read(item, { types: null, hasDefaults })
    if (!Array.isArray(prefixItems)) return { kind: 'array', items: read(items) }
    const length = prefixItems.length
    const isFull = items === false || (typeof maxItems === 'number' && maxItems <= length)
    return {
      kind: 'tuple',
      items: prefixItems.map(read),
      minItems: typeof minItems === 'number' ? Math.min(minItems, length) : 0,
      rest: isFull ? null : read(items),
    }
  }
}

/** What the keyword `type` leaves of the types; integers are numbers. */
function narrow(types: readonly string[] | null, keyword: Json | undefined): readonly string[] | null {
  if (keyword === undefined) return types
  const own = [keyword].flat().map(String)
  if (types === null) return own
  const includes = (list: readonly string[], type: string) =>
    list.includes(type) || (type === 'integer' && list.includes('number'))
  return [
    ...new Set([
      ...own.filter((type) => includes(types, type)),
      ...types.filter((type) => includes(own, type)),
    ]),
  ]
}

function typesOf(value: Json): string[] {
  if (typeof value === 'number') return Number.isInteger(value) ? ['number', 'integer'] : ['number']
  if (value === null) return ['null']
  return [Array.isArray(value) ? 'array' : typeof value]
}

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
