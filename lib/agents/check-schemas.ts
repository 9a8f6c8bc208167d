import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonObject } from '../core/json.ts'
import { type Field, isJsonSchema, toJsonSchema } from '../schema/field-map.ts'
import { compileCheck } from '../schema/validate.ts'
import type { AgentDocument } from './document.ts'

/**
 * What is wrong with a document's schemas beyond their form. Schemas are checked here, once, so that the small
 * validator of the request path may take them as they are.
 */
export function checkSchemas(document: AgentDocument): { path: string[]; message: string }[] {
  return (['input', 'output'] as const).flatMap((name) => {
    const declared = document[name]
    const findings = isJsonSchema(declared) ? checkJsonSchema(declared) : checkFields(declared)
    return findings.map(({ path, message }) => ({ path: [name, ...path], message }))
  })
}

function checkJsonSchema(schema: JsonObject) {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: true, logger: false })
  addFormats.default(ajv)
  try {
    ajv.compile(schema)
    return []
  } catch (error) {
    return [{ path: [], message: `is not a JSON Schema (2020-12): ${(error as Error).message}` }]
  }
}

function checkFields(fields: JsonObject): { path: string[]; message: string }[] {
  return Object.entries(fields as unknown as Record<string, Field>).flatMap(([name, field]) =>
    checkField(field).map(({ path, message }) => ({ path: [name, ...path], message })),
  )
}

function checkField(field: Field): { path: string[]; message: string }[] {
  const own = toJsonSchema({ value: { ...field, required: true } as never })
  const conforms = (value: unknown) => compileCheck(own)({ value }).length === 0
  const { enum: _, ...typeOnly } = field
  const isOfType = (value: unknown) =>
    compileCheck(toJsonSchema({ value: { ...typeOnly, required: true } as never }))({ value }).length === 0
  const findings: { path: string[]; message: string }[] = []
  if (field.properties && field.type !== 'object') {
    findings.push({ path: ['properties'], message: 'needs type: object' })
  }
  if (field.items && field.type !== 'array') findings.push({ path: ['items'], message: 'needs type: array' })
  for (const value of field.enum ?? []) {
    if (!isOfType(value)) {
      findings.push({
        path: ['enum'],
        message: `holds ${JSON.stringify(value)}, which is not of type ${field.type}`,
      })
    }
  }
  if (field.default !== undefined && !conforms(field.default)) {
    findings.push({ path: ['default'], message: 'does not match its own field' })
  }
  if (field.items) {
    findings.push(
      ...checkField(field.items).map(({ path, message }) => ({ path: ['items', ...path], message })),
    )
  }
  if (field.properties) {
    const nested = checkFields(field.properties as unknown as JsonObject)
    findings.push(...nested.map(({ path, message }) => ({ path: ['properties', ...path], message })))
  }
  return findings
}
