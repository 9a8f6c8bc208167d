import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { mergeSchemas, resolveRef, typesOf } from './schema-parts.ts'
import {
  anyOfPart,
  describe,
  type FieldRules,
  IDENTITY,
  jsonText,
  type Part,
  type StrictRules,
  toOptional,
  wrapPart,
} from './strict-parts.ts'

/** A schema that a provider enforces, and how its values relate to those of the schema that it stands for. */
export type StrictSchema = Part & Pick<FieldRules, 'counts'>

/** OpenAI allows 10. */
const MAX_DEPTH = 10
/** References may multiply what they refer to. */
const MAX_PARTS = 1_000

type Context = StrictRules & FieldRules & { root: JsonObject; parts: number }

/** `refs`: the references that the schema is part of. */
type Position = { depth: number; refs: readonly string[] }

/**
 * Converts a wire schema for strict mode, where the output of a model is certain to match: all objects are closed,
 * optional fields become required ones that may be null, and what cannot be expressed moves into descriptions, or
 * becomes a text that contains JSON. The result is never narrower than necessary, and validated by the service anyway.
 */
export function toStrictSchema(root: JsonObject, rules: StrictRules, isNullable = true): StrictSchema {
  const counts = { unions: 0, optional: 0 }
  const context = { ...rules, root, isNullable, counts, parts: 0 }
  const isEmpty = root.properties === undefined || Object.keys(root.properties as JsonObject).length === 0
  const isOpen = root.additionalProperties !== undefined || root.patternProperties !== undefined
  const closed = isEmpty && !isOpen ? { ...root, additionalProperties: false } : root
  const part = convert(closed, context, { depth: 1, refs: [] })
  return { ...(part.schema.type === 'object' ? part : wrapPart(part)), counts }
}

function convert(schema: Json | undefined, context: Context, position: Position): Part {
  if (!isJsonObject(schema) || position.depth > MAX_DEPTH || ++context.parts > MAX_PARTS)
    return jsonText(schema, context.root)
  if (typeof schema.$ref === 'string') return convertRef(schema, schema.$ref, context, position)
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...base } = schema
    const merged = mergeSchemas([base, ...allOf], context.root)
    return merged ? convert(merged, context, position) : jsonText(schema, context.root)
  }
  const branches = branchesOf(schema, context)
  if (branches === null) return jsonText(schema, context.root)
  if (branches.length === 1) return convert(branches[0], context, position)
  if (branches.length > 1) {
    context.counts.unions++
    const part = anyOfPart(branches.map((branch) => convert(branch, context, position)))
    return { ...part, schema: { ...describe(annotationsOf(schema), context), ...part.schema } }
  }
  const [type] = typesOf(schema)
  if (type === 'object') return convertObject(schema, context, position)
  if (type === 'array') return convertArray(schema, context, position)
  return type === undefined ? jsonText(schema, context.root) : convertScalar(schema, context)
}

/** Members next to a reference add to what it refers to. A schema that contains itself becomes a text. */
function convertRef(schema: JsonObject, ref: string, context: Context, position: Position): Part {
  const { $ref: _, ...others } = schema
  const target = resolveRef(ref, context.root)
  const merged = target && !position.refs.includes(ref) && mergeSchemas([target, others], context.root)
  if (!merged) return jsonText(schema, context.root)
  return convert(merged, context, { ...position, refs: [...position.refs, ref] })
}

/**
 * The alternatives of a schema: none if it has no choice, null if they cannot be expressed. Alternatives that only
 * restrict fields stay in the schema, and are described.
 */
function branchesOf(schema: JsonObject, { root }: Context): JsonObject[] | null {
  const { anyOf, oneOf, ...base } = without(schema, Object.keys(annotationsOf(schema)))
  const alternatives = [anyOf, oneOf]
    .filter((list) => Array.isArray(list))
    .filter((list) => addsStructure(list))
  if (alternatives.length > 1) return null
  const [list] = alternatives
  if (list) {
    const merged = list.map((branch) => mergeSchemas([base, branch], root))
    return merged.every((branch) => branch !== null) ? merged : null
  }
  const types = typesOf(schema)
  const isNested = types.length > 1 && types.some((type) => type === 'object' || type === 'array')
  return isNested ? types.map((type) => (type === 'null' ? { type } : { ...base, type })) : []
}

const annotationsOf = ({ title, description, default: value }: JsonObject): JsonObject => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
  ...(value !== undefined && { default: value }),
})

const without = (schema: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))

const addsStructure = (list: Json[]): boolean =>
  list.some(
    (branch) =>
      isJsonObject(branch) &&
      ['type', 'properties', 'items', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'].some(
        (keyword) => keyword in branch,
      ),
  )

function convertObject(schema: JsonObject, context: Context, position: Position): Part {
  const fields = isJsonObject(schema.properties) ? schema.properties : {}
  const names = Object.keys(fields)
  const required = Array.isArray(schema.required) ? schema.required : []
  const { additionalProperties: rest = true } = schema
  const isMap =
    schema.patternProperties !== undefined || isJsonObject(rest) || (names.length === 0 && rest !== false)
  if (isMap || !required.every((name) => names.includes(String(name)))) return jsonText(schema, context.root)
  const inner = { ...position, depth: position.depth + 1 }
  const parts = names.map((name): [string, Part] => {
    const part = convert(fields[name], context, inner)
    return [name, required.includes(name) ? part : toOptional(part, context)]
  })
  const isPresent = (name: string) => context.isNullable || required.includes(name)
  const convertFields = (key: 'encode' | 'decode') => (value: Json) => {
    if (!isJsonObject(value)) return value
    const entries = parts.flatMap(([name, part]): [string, Json][] => {
      const member = Object.hasOwn(value, name) ? value[name] : undefined
      const isMissing = member === undefined || (key === 'decode' && member === null && part.dropsNull)
      if (!isMissing) return [[name, part[key](member)]]
      return key === 'encode' && part.dropsNull ? [[name, null]] : []
    })
    const others = Object.entries(value).filter(([name]) => !names.includes(name))
    return Object.fromEntries([...entries, ...others])
  }
  return {
    schema: {
      ...describe(schema, context),
      type: 'object',
      properties: Object.fromEntries(parts.map(([name, part]) => [name, part.schema])),
      required: names.filter(isPresent),
      additionalProperties: false,
    },
    encode: convertFields('encode'),
    decode: convertFields('decode'),
  }
}

function convertArray(schema: JsonObject, context: Context, position: Position): Part {
  if (schema.prefixItems !== undefined || !isJsonObject(schema.items)) return jsonText(schema, context.root)
  const items = convert(schema.items, context, { ...position, depth: position.depth + 1 })
  const map = (key: 'encode' | 'decode') => (value: Json) =>
    Array.isArray(value) ? value.map(items[key]) : value
  return {
    schema: { ...describe(schema, context), type: 'array', items: items.schema },
    encode: map('encode'),
    decode: map('decode'),
  }
}

function convertScalar(schema: JsonObject, context: Context): Part {
  const types = typesOf(schema)
  const values = 'const' in schema ? [schema.const as Json] : schema.enum
  if (Array.isArray(values) && values.some((value) => typeof value === 'object' && value !== null))
    return jsonText(schema, context.root)
  if (types.length > 1) context.counts.unions++
  return {
    schema: {
      ...describe(schema, context),
      type: types.length === 1 ? (types[0] as string) : types,
      ...(Array.isArray(values) && { enum: values }),
    },
    ...IDENTITY,
  }
}
