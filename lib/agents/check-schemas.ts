import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isJsonObject, type JsonObject } from '../core/json.ts'
import { type Field, type FieldMap, isJsonSchema, toJsonSchema } from '../schema/field-map.ts'
import { compileCheck } from '../schema/validate/validate.ts'

type Finding = { path: PropertyKey[]; message: string }

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/**
 * What is wrong with a declared schema beyond its form. Schemas are checked here, once, so that the small
 * validator of the request path may take them as they are.
 */
export function checkDeclared(declared: JsonObject): Finding[] {
  return isJsonSchema(declared) ? checkJsonSchema(declared) : checkFields(declared as unknown as FieldMap)
}

function checkJsonSchema(schema: JsonObject): Finding[] {
  const dialect = String(schema.$schema ?? DIALECT).replace(/#$/, '')
  if (dialect !== DIALECT) return [{ path: ['$schema'], message: `must be ${DIALECT}, or left out` }]
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, logger: false })
  addFormats.default(ajv)
  if (!ajv.validateSchema(schema)) return onePerPlace(ajv.errors ?? [])
  try {
    ajv.compile(schema)
    return []
  } catch (error) {
    const { message } = error as Error
    const keyword = /unknown keyword: "(.+)"/.exec(message)?.[1]
    const path = keyword === undefined ? [] : (pathOfKey(schema, keyword) ?? [])
    return [{ path, message: `is not JSON Schema (2020-12): ${message.replace(/^strict mode: /, '')}` }]
  }
}

/** The meta-schema reports one mistake once for every alternative that it does not match; the first says most. */
function onePerPlace(errors: ErrorObject[]): Finding[] {
  const findings = new Map<string, Finding>()
  for (const { instancePath, message, params } of errors) {
    if (findings.has(instancePath)) continue
    const path = instancePath.split('/').slice(1).map(unescapePointer)
    const allowed = Array.isArray(params.allowedValues) ? ` (${params.allowedValues.join(', ')})` : ''
    findings.set(instancePath, { path, message: `is not JSON Schema (2020-12): ${message}${allowed}` })
  }
  return [...findings.values()]
}

/** RFC 6901, section 4. */
const unescapePointer = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~')

function pathOfKey(value: unknown, key: string): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isJsonObject(value) && Object.hasOwn(value, key)) return [key]
  for (const [name, child] of Object.entries(value)) {
    const rest = pathOfKey(child, key)
    if (rest) return [name, ...rest]
  }
  return undefined
}

function checkFields(fields: FieldMap): Finding[] {
  return Object.entries(fields).flatMap(([name, field]) => below([name], checkField(field)))
}

function checkField(field: Field): Finding[] {
  const { type, items, properties, default: preset, enum: choices, ...rest } = field
  const isOfType = checkerOf({ ...rest, type, ...(items && { items }), ...(properties && { properties }) })
  const findings: Finding[] = []
  if (properties && type !== 'object') findings.push({ path: ['properties'], message: 'needs type: object' })
  if (items && type !== 'array') findings.push({ path: ['items'], message: 'needs type: array' })
  for (const value of choices ?? []) {
    if (!isOfType(value)) findings.push({ path: ['enum'], message: `holds ${shown(value)}, ${isNot(type)}` })
  }
  if (preset !== undefined && !isOfType(preset)) {
    findings.push({ path: ['default'], message: `is ${shown(preset)}, ${isNot(type)}` })
  } else if (preset !== undefined && !checkerOf(field)(preset)) {
    findings.push({ path: ['default'], message: `is ${shown(preset)}, which the enum does not hold` })
  }
  if (items) findings.push(...below(['items'], checkField(items)))
  if (properties) findings.push(...below(['properties'], checkFields(properties)))
  return findings
}

function checkerOf(field: Field): (value: unknown) => boolean {
  const check = compileCheck(toJsonSchema({ value: { ...field, required: true } as never }))
  return (value) => check({ value }).length === 0
}

function isNot(type: Field['type']): string {
  const isNested = type === 'object' || type === 'array'
  return isNested ? 'which does not match the field' : `which is not of type ${type}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function below(prefix: PropertyKey[], findings: Finding[]): Finding[] {
  return findings.map(({ path, message }) => ({ path: [...prefix, ...path], message }))
}
