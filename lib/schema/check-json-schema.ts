import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'
import { escapeName, parseJsonPointer } from '../core/json/pointer.ts'
import { truncate } from './message-text.ts'
import { mapSubschemas } from './subschemas.ts'

/** A mistake in a declared schema. The message continues a sentence that starts with the field's name. */
export type SchemaProblem = { path: PropertyKey[]; message: string }

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
/** The URI under which the compiler knows the schema. */
const ROOT = 'schema:declared'

/** The compiler reads the first one without declaring it; the others are of OpenAPI. Those with `x-` are accepted. */
const ANNOTATIONS = ['$anchor', 'discriminator', 'example', 'externalDocs', 'xml']

type Part = { schema: JsonObject; path: readonly string[] }

/**
 * Checks a JSON Schema for what the validator of runs accepts: 2020-12, with annotations of OpenAPI. Unknown keywords
 * are mistakes, because nobody would notice that they have no effect.
 * @param strictTypes whether keywords such as `pattern` need a `type`
 */
export function checkJsonSchema(schema: JsonObject, strictTypes: boolean): SchemaProblem[] {
  const dialect = String(schema.$schema ?? DIALECT).replace(/#$/, '')
  if (dialect !== DIALECT) return [{ path: ['$schema'], message: `must be ${DIALECT} or omitted` }]
  const parts = partsOf(schema)
  const ajv = new Ajv2020({
    strictTypes,
    strictSchema: true,
    strictNumbers: true,
    strictTuples: false,
    allErrors: true,
    allowUnionTypes: true,
    logger: false,
  })
  addFormats.default(ajv)
  ajv.addKeyword({ keyword: 'maxBytes', schemaType: 'number' })
  ajv.addVocabulary(ANNOTATIONS)
  for (const { schema: part } of parts) {
    const { format } = part
    // Publishing warns of unknown formats (`findSchemaWarnings`).
    if (typeof format === 'string' && !(format in ajv.formats)) ajv.addFormat(format, true)
    for (const name in part) if (name.startsWith('x-') && !ajv.getKeyword(name)) ajv.addKeyword(name)
  }
  if (!ajv.validateSchema(schema)) return toProblems(ajv.errors ?? [])
  const references = checkReferences(schema, parts)
  if (references.length > 0) return references
  try {
    ajv.compile({ $id: ROOT, ...schema })
  } catch (error) {
    const message = (error as Error).message.replaceAll(ROOT, '')
    const keyword = /unknown keyword: "(.+)"/.exec(message)?.[1]
    const place = / at (?:path )?"#?(.*?)"(?: \(.*\))?$/.exec(message)?.[1] ?? ''
    const path = keyword === undefined ? parseJsonPointer(place) : (findPathOfKey(schema, keyword) ?? [])
    return [{ path, message: invalid(message.replace(/^strict mode: /, '')) }]
  }
  return parts.flatMap((part) => checkValues(ajv, schema, part))
}

function partsOf(schema: JsonObject): Part[] {
  const parts: Part[] = []
  mapSubschemas(schema, (part, path) => {
    parts.push({ schema: part, path })
    return part
  })
  return parts
}

/** Defaults, examples and choices that no value of the schema may have. */
function checkValues(ajv: Ajv2020, root: JsonObject, { schema, path }: Part): SchemaProblem[] {
  const { examples, enum: choices } = schema
  const single = ['default', 'example', 'const'].filter((name) => schema[name] !== undefined)
  const given: [string[], Json][] = [
    ...single.map((name): [string[], Json] => [[name], schema[name] as Json]),
    ...Object.entries({ examples, enum: choices }).flatMap(([name, values]) =>
      Array.isArray(values) ? values.map((each, n): [string[], Json] => [[name, `${n}`], each]) : [],
    ),
  ]
  if (given.length === 0) return []
  const base = typeof root.$id === 'string' ? root.$id : ROOT
  const validate = ajv.getSchema(
    `${base}#${path.map((name) => `/${encodeURIComponent(escapeName(name))}`).join('')}`,
  )
  return given.flatMap(([[keyword = '', ...index], value]) => {
    if (!validate || validate(value)) return []
    const isChoice = keyword === 'enum' || keyword === 'const'
    const errors = (validate.errors ?? []).filter((error) => {
      const isOfChoice = error.instancePath === '' && (error.keyword === 'enum' || error.keyword === 'const')
      return !(isChoice && isOfChoice)
    })
    const [error] = errors
    if (!error) return []
    const at = error.instancePath && `${error.instancePath} `
    const message = `${truncate(JSON.stringify(value), 60)} does not match the schema beside it: ${at}${error.message}`
    return [{ path: [...path, keyword, ...index], message }]
  })
}

/** Keywords whose subschemas apply to the same value: a circle of them never ends. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not', 'dependentSchemas']

/** References in the schema that name nothing, and circles of references, at which a validator would never end. */
function checkReferences(root: JsonObject, parts: Part[]): SchemaProblem[] {
  const bySchema = new Map(parts.map((part) => [part.schema, part]))
  const resolve = (reference: string): Json | undefined => {
    const fragment = safelyDecoded(reference.slice(1))
    if (fragment !== '' && !fragment.startsWith('/'))
      return parts.find(({ schema }) => [schema.$anchor, schema.$dynamicAnchor].includes(fragment))?.schema
    let value: Json | undefined = root
    for (const name of parseJsonPointer(fragment))
      value =
        (isJsonObject(value) || Array.isArray(value)) && Object.hasOwn(value, name)
          ? (value as JsonObject)[name]
          : undefined
    return value
  }
  const problems: SchemaProblem[] = []
  const done = new Set<Json>()
  const visit = (
    schema: Json | undefined,
    trail: { schema: JsonObject; reference?: string; path: readonly string[] }[],
  ) => {
    if (!isJsonObject(schema) || done.has(schema)) return
    const start = trail.findIndex((step) => step.schema === schema)
    if (start >= 0) {
      const circle = trail.slice(start).filter(({ reference }) => reference)
      const message = `is circular: ${[...circle, ...circle.slice(0, 1)].map(({ reference }) => reference).join(' → ')}`
      problems.push({ path: [...(circle[0]?.path ?? []), '$ref'], message })
      return
    }
    const { path = [] } = bySchema.get(schema) ?? {}
    const { $ref, $id } = schema
    if (typeof $ref === 'string' && $ref.startsWith('#') && (schema === root || $id === undefined)) {
      const target = resolve($ref)
      if (target === undefined)
        problems.push({ path: [...path, '$ref'], message: `names nothing in the schema: ${$ref}` })
      visit(target, [...trail, { schema, reference: $ref, path }])
    }
    for (const keyword of IN_PLACE) {
      const value = schema[keyword]
      const inner =
        Array.isArray(value) || keyword === 'dependentSchemas' ? Object.values(value ?? {}) : [value]
      for (const each of inner) visit(each as Json | undefined, [...trail, { schema, path }])
    }
    done.add(schema)
  }
  // Base URIs other than that of the root are for the compiler.
  if (parts.some(({ schema }) => schema !== root && schema.$id !== undefined)) return []
  for (const { schema } of parts) visit(schema, [])
  return problems
}

function safelyDecoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

/** Keeps the first error of each location: the meta-schema repeats a mistake for every alternative. */
function toProblems(errors: ErrorObject[]): SchemaProblem[] {
  const problems = new Map<string, SchemaProblem>()
  for (const { instancePath, message, params } of errors) {
    if (problems.has(instancePath)) continue
    const allowed = Array.isArray(params.allowedValues) ? ` (${params.allowedValues.join(', ')})` : ''
    const path = parseJsonPointer(instancePath)
    problems.set(instancePath, { path, message: invalid(`${message}${allowed}`) })
  }
  return [...problems.values()]
}

const invalid = (reason: string) => `invalid JSON Schema (2020-12): ${reason}`

function findPathOfKey(value: unknown, key: string): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isJsonObject(value) && Object.hasOwn(value, key)) return [key]
  for (const [name, child] of Object.entries(value)) {
    const path = findPathOfKey(child, key)
    if (path) return [name, ...path]
  }
  return undefined
}
