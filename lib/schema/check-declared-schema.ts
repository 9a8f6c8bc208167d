import * as z from 'zod'
import type { JsonObject } from '../core/json/json.ts'
import { MEDIA_TYPES } from '../core/media.ts'
import { checkJsonSchema, type SchemaProblem } from './check-json-schema.ts'
import {
  BOUNDS,
  FIELD_TYPES,
  type Field,
  type FieldMap,
  FORMATS,
  isJsonSchema,
  toJsonSchema,
} from './field-map.ts'
import { checkFileSchemas } from './files/check-file-schemas.ts'
import { MAX_FILE_BYTES } from './files/file-schema.ts'
import { joinWithOr, truncate } from './message-text.ts'
import { loadPatternEngine } from './patterns/load-pattern-engine.ts'
import { listPatterns } from './patterns/schema-patterns.ts'
import { compileValidator } from './validate/validate.ts'

export type { SchemaProblem }

const count = z.int().min(0).optional()
const limit = z.number().optional()

export const fieldSchema: z.ZodType<Field> = z.lazy(() =>
  z.strictObject({
    type: z.enum(FIELD_TYPES),
    description: z.string().optional(),
    /** Default: true, unless the field has a default. */
    required: z.boolean().optional(),
    enum: z.array(z.unknown()).min(1).optional(),
    items: fieldSchema.optional(),
    properties: z.record(z.string(), fieldSchema).optional(),
    default: z.unknown().optional(),
    minLength: count,
    maxLength: count,
    pattern: z.string().optional(),
    format: z.enum(FORMATS).optional(),
    minimum: limit,
    maximum: limit,
    minItems: count,
    maxItems: count,
    mediaTypes: z.array(z.enum(MEDIA_TYPES)).min(1).optional(),
    maxBytes: z.int().min(1).max(MAX_FILE_BYTES).optional(),
  }),
)

export const fieldMapSchema = z.record(z.string().min(1), fieldSchema)

/**
 * Checks a declared schema when its agent is published. The validator that runs with each request is small and does not
 * check schemas.
 * @param strictTypes whether keywords such as `pattern` need a `type`
 * @param allowsFiles whether fields may have the type `file`, as in the input of an agent
 */
export function checkDeclaredSchema(
  declared: JsonObject,
  { strictTypes = true, allowsFiles = false } = {},
): SchemaProblem[] {
  if (isJsonSchema(declared)) {
    const invalid = checkJsonSchema(declared, strictTypes)
    const problems = invalid.length > 0 ? invalid : checkPatterns(declared)
    return problems.length === 0 && allowsFiles ? checkFileSchemas(declared) : problems
  }
  // In the JSON Schema, the fields are in `properties`.
  const patterns = checkPatterns(toJsonSchema(declared)).map(({ path, ...problem }) => ({
    ...problem,
    path: path.slice(1),
  }))
  return [...checkFieldMap(declared as unknown as FieldMap, allowsFiles), ...patterns]
}

// When agents are published, the time to load the engine does not matter.
await loadPatternEngine()

function checkPatterns(schema: JsonObject): SchemaProblem[] {
  return listPatterns(schema)
    .filter(({ isSupported }) => !isSupported())
    .map(({ pattern, path, isKey }) => ({
      path,
      message: `pattern ${truncate(pattern, 100)} ${isKey ? COMPLEX_KEY : UNSUPPORTED_PATTERN}`,
    }))
}

const UNSUPPORTED_PATTERN =
  'is not supported: RE2, which matches in linear time, has no look-around, back-references and repetition counts above 1000'

const COMPLEX_KEY =
  'may take more than linear time: in patternProperties, a pattern with repetitions must start with ^ and have at most one of variable length, and no groups and alternatives'

function checkFieldMap(fields: FieldMap, allowsFiles: boolean): SchemaProblem[] {
  return Object.entries(fields).flatMap(([name, field]) => withPrefix([name], checkField(field, allowsFiles)))
}

const ONLY_INPUT = '"file" is possible only in the input of an agent'

function checkField(field: Field, allowsFiles: boolean): SchemaProblem[] {
  if (field.type === 'file' && !allowsFiles) return [{ path: ['type'], message: ONLY_INPUT }]
  const { default: defaultValue, enum: choices = [], ...unrestricted } = field
  const { type, items, properties } = field
  const matchesType = matcherOf(unrestricted)
  const isPlain = type !== 'object' && type !== 'array' && keywordsOf(field, BOUNDS).length === 0
  const check = (keyword: 'enum' | 'default', value: unknown): SchemaProblem[] => {
    const message = `${format(value)} does not match ${isPlain ? `type ${type}` : 'the field'}`
    return matchesType(value) ? [] : [{ path: [keyword], message }]
  }
  const problems = [...checkKeywords(field), ...choices.flatMap((value) => check('enum', value))]
  if (defaultValue !== undefined) {
    const mismatches = check('default', defaultValue)
    problems.push(...mismatches)
    if (mismatches.length === 0 && !matcherOf(field)(defaultValue))
      problems.push({ path: ['default'], message: `${format(defaultValue)} is not one of the enum values` })
  }
  if (items) problems.push(...withPrefix(['items'], checkField(items, allowsFiles)))
  if (properties) problems.push(...withPrefix(['properties'], checkFieldMap(properties, allowsFiles)))
  return problems
}

/** The types of field that may have a keyword. */
const TYPES_OF_KEYWORD = {
  ...({ properties: ['object'], items: ['array'], mediaTypes: ['file'], maxBytes: ['file'] } as const),
  ...BOUNDS,
}

const RANGES = [
  ['minLength', 'maxLength'],
  ['minimum', 'maximum'],
  ['minItems', 'maxItems'],
] as const

function checkKeywords(field: Field): SchemaProblem[] {
  const misplaced = keywordsOf(field, TYPES_OF_KEYWORD)
    .map((name) => ({ name, types: TYPES_OF_KEYWORD[name] }))
    .filter(({ types }) => !types.some((type) => type === field.type))
  const unusable = (['enum', 'default'] as const).filter(
    (name) => field.type === 'file' && field[name] !== undefined,
  )
  const empty = RANGES.filter(([min, max]) => (field[min] ?? 0) > (field[max] ?? Number.POSITIVE_INFINITY))
  return [
    ...misplaced.map(({ name, types }) => ({ path: [name], message: `requires type: ${joinWithOr(types)}` })),
    ...unusable.map((name) => ({ path: [name], message: 'must be omitted for type: file' })),
    ...empty.map(([min, max]) => ({ path: [max], message: `must not be less than ${min}` })),
  ]
}

const keywordsOf = <Name extends keyof Field>(field: Field, keywords: Record<Name, unknown>) =>
  (Object.keys(keywords) as Name[]).filter((name) => field[name] !== undefined)

/** Matches every value if the field has a pattern that is not supported, which `checkPatterns` reports. */
function matcherOf(field: Field): (value: unknown) => boolean {
  const schema = toJsonSchema({ value: { ...field, required: true } as never })
  if (checkPatterns(schema).length > 0) return () => true
  const validate = compileValidator(schema)
  return (value) => validate({ value }).length === 0
}

const format = (value: unknown) => truncate(JSON.stringify(value), 60)

function withPrefix(prefix: PropertyKey[], problems: SchemaProblem[]): SchemaProblem[] {
  return problems.map(({ path, message }) => ({ path: [...prefix, ...path], message }))
}
