import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import type { Violation } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { toJsonSchema } from './field-map.ts'

export type Check = (value: unknown) => Violation[]

/**
 * Compiles a declared schema (field map or JSON Schema) into a check that lists what is wrong with a value, nothing
 * when it conforms. The schema itself was checked when its agent was published.
 */
export function compileCheck(declared: JsonObject): Check {
  const validator = new Validator(toJsonSchema(declared) as Schema, '2020-12', false)
  return (value) => {
    const { valid, errors } = validator.validate(value)
    return valid ? [] : innermost(errors).map(toViolation)
  }
}

/** The validator reports every enclosing keyword of a violation too; the innermost ones say what is wrong. */
function innermost(errors: OutputUnit[]): OutputUnit[] {
  const isEnclosing = ({ keywordLocation }: OutputUnit) =>
    errors.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`))
  const inner = errors.filter((error) => !isEnclosing(error) && error.keyword !== 'false')
  return inner.length > 0 ? inner : errors
}

function toViolation({ instanceLocation, keyword, error }: OutputUnit): Violation {
  const path = instanceLocation.slice(1)
  const name = /property "(.*)"|^Property "(.*)" does not/s.exec(error)
  const field = `${path}/${pointer(name?.[1] ?? name?.[2] ?? '')}`
  if (keyword === 'required') return { path: field, message: `${field} is required.` }
  if (keyword === 'additionalProperties')
    return { path: field, message: `${field} is not a field of the schema.` }
  return { path, message: `${path === '' ? 'The value' : path}: ${error}` }
}

/** A name as a token of a JSON Pointer (RFC 6901, section 4). */
const pointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
